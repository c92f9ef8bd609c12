"""What plugrad has not, and programs for Chainer use."""
