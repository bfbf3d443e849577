"""What differs between workbooks, by file and by what git keeps."""
