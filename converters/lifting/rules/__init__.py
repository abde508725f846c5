"""The rules of the ladder from thread level to loop level, one small file for each."""
