"""A workbook that comes back, read safely and by names, whoever edited and saved it."""
