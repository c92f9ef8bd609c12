"""Random noise in networks."""

provides = {
    "dropout": "Dropout dropout",
    "gaussian": "Gaussian gaussian",
    "gumbel_softmax": "gumbel_softmax",
    "simplified_dropconnect": "SimplifiedDropconnect simplified_dropconnect",
    "zoneout": "Zoneout zoneout",
}
