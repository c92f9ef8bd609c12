"""Links around whole networks, and whole networks for images."""

provides = {
    "classifier": "Classifier",
    "vision.googlenet": "GoogLeNet",
    "vision.resnet": (
        "BottleneckA BottleneckB BuildingBlock ResNet50Layers ResNet101Layers ResNet152Layers "
        "ResNetLayers"
    ),
    "vision.vgg": "VGG16Layers VGG19Layers VGGLayers",
}
