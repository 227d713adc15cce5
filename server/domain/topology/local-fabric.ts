import { randomInt } from 'node:crypto';
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { cloudServices, networks, vmRoles } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  formatIpv4,
  type Ipv4Network,
  nextOffset,
  parseIpv4,
  parseNetwork,
} from '#server/domain/topology-rules/addresses.ts';
import { requestAgent } from './agent-requests.ts';
import type { CloudProvider, RoleDescription } from './provider.ts';

/** Parses a network of the settings or of a row, both of which were checked before. */
export function networkOf(cidr: string): Ipv4Network {
  const network = parseNetwork(cidr);
  if (network === null) throw new Error(`${cidr} is not an IPv4 network; its first address must end in zero bits`);
  return network;
}

/**
 * The provider of a portal without a cloud. It creates no machines: people run the enrollment command of each role on a
 * machine or, with `ANNEX_FABRIC=spawn`, the fabric starts an agent. It takes the addresses from its pools, which the inventory shows to be free.
 */
export function localFabric({ db, config: { fabric, dataDir } }: Pick<Context, 'db' | 'config'>): CloudProvider {
  const assign = async ({ network, enrollment }: RoleDescription): Promise<{ assignedAddress: string }> => {
    const isShared = fabric.mode === 'spawn';
    const assignedAddress = await takeAddress(db, network, isShared);
    if (isShared && enrollment !== null) await requestAgent(dataDir, { ...enrollment, address: assignedAddress });
    return { assignedAddress };
  };
  return {
    affinityGroup: async () => 'created',
    network: async () => 'created',
    cloudService: async ({ name }) => ({
      dnsName: `${name}.${fabric.domain}`,
      publicAddress: await findPublicAddress(db, name, fabric.addresses),
    }),
    deployment: (_service, _deployment, _slot, first) => assign(first),
    role: (_service, _deployment, role) => assign(role),
    endpoints: async () => {},
    swap: async () => {},
    dropRoles: async () => {},
    dropCloudService: async () => {},
    dropNetwork: async () => {},
    dropAffinityGroup: async () => {},
  };
}

/** Returns the public address of a cloud service, or a free one. The unique index decides between concurrent calls. */
async function findPublicAddress(db: Context['db'], name: string, addresses: string): Promise<string> {
  const rows = await db
    .select({ name: cloudServices.name, address: cloudServices.publicAddress })
    .from(cloudServices)
    .where(isNull(cloudServices.goneAt));
  const own = rows.find((row) => row.name === name)?.address;
  if (own) return own;
  const pool = networkOf(addresses);
  const taken = new Set(rows.map(({ address }) => address));
  const offset = nextOffset(pool, randomInt(pool.size), (at) => taken.has(formatIpv4(pool.first + at)));
  if (offset === null) throw new Error(`every address of ${addresses} is in use`);
  return formatIpv4(pool.first + offset);
}

/**
 * Takes the next free address of a network. If the agents of all networks share the portal’s machine, no role of another
 * network may have the address either.
 */
async function takeAddress(db: Context['db'], name: string, isShared: boolean): Promise<string> {
  return db.transaction(async (tx) => {
    const rows = await tx
      .select()
      .from(networks)
      .where(isShared ? undefined : eq(networks.name, name))
      .orderBy(networks.name)
      .for('update');
    const row = rows.find((network) => network.name === name);
    if (row === undefined) throw new Error(`the network ${name} does not exist`);
    const { first, size } = networkOf(row.cidr);
    const ofNetwork = sql`${vmRoles.networkConfiguration} ->> 'network' = ${name}`;
    const roles = await tx
      .select({ address: vmRoles.assignedAddress })
      .from(vmRoles)
      .where(and(isNotNull(vmRoles.assignedAddress), isShared ? undefined : ofNetwork));
    const taken = new Set(roles.map(({ address }) => (parseIpv4(address ?? '') ?? 0) - first));
    // The highest of them, because an address is stored only after the provider has returned it.
    const next = Math.max(...rows.filter(({ cidr }) => cidr === row.cidr).map(({ nextAddress }) => nextAddress));
    const offset = nextOffset({ first, size }, next, (at) => taken.has(at));
    if (offset === null) throw new Error(`every address of ${name} is in use`);
    await tx
      .update(networks)
      .set({ nextAddress: offset + 1 })
      .where(eq(networks.name, name));
    return formatIpv4(first + offset);
  });
}
