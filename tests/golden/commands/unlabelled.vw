|words good
'tagged |words bad
|words unheard
