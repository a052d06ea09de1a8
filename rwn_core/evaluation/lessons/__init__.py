"""The numbers behind the lessons of the Learn page, a file a lesson."""
