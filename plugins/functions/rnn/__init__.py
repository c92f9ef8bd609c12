"""Cells of recurrent networks, and layers of them over sequences."""

provides = {
    "lstm": "LSTM lstm",
    "n_step_classes": (
        "NStepBiGRU NStepBiLSTM NStepBiRNNReLU NStepBiRNNTanh "
        "NStepGRU NStepLSTM NStepRNNReLU NStepRNNTanh"
    ),
    "n_step_gru": "n_step_bigru n_step_gru",
    "n_step_lstm": "n_step_bilstm n_step_lstm",
    "n_step_rnn": "n_step_birnn n_step_rnn",
    "slstm": "SLSTM slstm",
    "tree_lstm": "TreeLSTM tree_lstm",
}
