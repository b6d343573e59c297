s = 'hello'
m = ['abc'; 'def']
t = "a string"
u = ["one" "two"]
