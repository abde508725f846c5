"""Headers and libraries under CUDA's own names, served by tmigrate."""
