"""What a text from outside may cause: screen, fence, taint, tools from strangers."""
