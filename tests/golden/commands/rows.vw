1 2.0 'first|words good fine |size:0.5 long:3
-1 |words bad poor
1 |words good
-1 0.5 |words bad |size short
