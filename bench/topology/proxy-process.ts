import { memberPortKey } from '#server/domain/topology-rules/fabric.ts';
import { PortProxy } from '#server/fabric/proxy/port-proxy.ts';

/** The fabric’s proxy with one endpoint, without a database. The first argument is its address and member as JSON. */
const { address, port, member } = JSON.parse(process.argv[2] ?? '{}') as {
  address: string;
  port: number;
  member: { address: string; localPort: number };
};
const vmId = 'member';
const endpoint = {
  ...{ cloudService: 'bench', publicAddress: address, protocol: 'tcp' as const, publicPort: port },
  members: [{ vmId, ...member }],
};
const proxy = new PortProxy();
await proxy.serve([endpoint], new Set([memberPortKey({ vmId, protocol: 'tcp', publicPort: port })]));
process.send?.({ ready: proxy.faults().length === 0 });
process.on('disconnect', () => process.exit(0));
