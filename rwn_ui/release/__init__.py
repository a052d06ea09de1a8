"""The Release page: five steps from a setting to a file that may leave the house."""
