"""Thread level to loop level to tensor level: small named rules, each result checked."""
