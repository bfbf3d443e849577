"""What a target is: rules that spell the words of the language in one output."""
