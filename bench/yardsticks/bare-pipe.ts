import { connect, createServer } from 'node:net';

/** A pipe of two sockets in bare Node. The first argument is its address and target as JSON. */
const { address, port, member } = JSON.parse(process.argv[2] ?? '{}') as {
  address: string;
  port: number;
  member: { address: string; localPort: number };
};
createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const target = connect({ host: member.address, port: member.localPort, allowHalfOpen: true, noDelay: true });
  client.pipe(target).pipe(client);
  client.on('error', () => target.destroy());
  target.on('error', () => client.destroy());
}).listen(port, address, 2_048, () => process.send?.({ ready: true }));
process.on('disconnect', () => process.exit(0));
