-- write: store what put made. It stands in the script wherever that says
-- "#include write".
--
-- Reads k, v, new and px. Most often the expiry stays, and often all but the units:
-- to write over a value costs Redis a third of a new one.
if px then
  call('SET', K[k], new, 'PXAT', px)
elseif #new == 3 then
  call('SETRANGE', K[k], '2', new)
elseif #new == #v then
  call('SETRANGE', K[k], '0', new)
else
  call('SET', K[k], new, 'KEEPTTL')
end
