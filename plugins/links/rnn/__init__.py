"""Cells of recurrent networks, with their parameters; some keep their state."""

provides = {
    "gru": "GRU StatefulGRU StatelessGRU",
    "lstm": "LSTM StatelessLSTM",
    "mgu": "StatefulMGU StatelessMGU",
    "n_step_gru": "NStepBiGRU NStepGRU",
    "n_step_lstm": "NStepBiLSTM NStepLSTM",
    "n_step_rnn": "NStepBiRNNReLU NStepBiRNNTanh NStepRNNReLU NStepRNNTanh",
    "peephole": "StatefulPeepholeLSTM",
    "tree_lstm": "ChildSumTreeLSTM NaryTreeLSTM",
    "zoneoutlstm": "StatefulZoneoutLSTM",
}
