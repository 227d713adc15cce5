import { newUnitRecord, type UnitGoal } from '#protocol/index.ts';
import { type Box, boxOf } from '../amp/box.ts';
import { Contexts, contextInputOf } from '../unit/contexts.ts';
import type { ContextInput } from '../unit/hook-context.ts';
import type { LogEntry } from '../unit/log-entry.ts';
import type { NodeCopy, NodeName } from '../unit/read-node.ts';
import { unitCommands } from '../unit/unit-commands.ts';
import { unitError } from '../unit/unit-error.ts';

const keyOf = (name: NodeName): string => (name === 'service' ? name : `${name.relation} ${name.unit}`);

/** The unit wordpress/1 with its relations db:3 and cache:4, and a portal in memory. */
export class UnitStage {
  readonly goal: UnitGoal = {
    ...{ unit: 'wordpress/1', model: 'prod', turn: 14, goal: 'alive', serviceExposed: false, settingsVersion: 4 },
    ...{ timeouts: { default: 300 }, masked: ['salt'], resolution: null },
    addresses: { private: '10.0.0.5', public: null },
    formula: {
      ...{ id: 'Acme.Blog.wordpress', name: 'wordpress', version: '1.2', hooks: [] },
      package: { sha256: '9'.repeat(64), size: 1, url: '' },
    },
    relations: [
      {
        ...{ id: 3, name: 'db', interface: 'mysql', life: 'alive', clock: 20, whole: true },
        members: [
          { unit: 'mysql/0', version: 12, clock: 18 },
          { unit: 'mysql/1', version: 1, clock: 20 },
        ],
      },
      { id: 4, name: 'cache', interface: 'memcache', life: 'dying', clock: 2, whole: true, members: [] },
    ],
  };
  /** The portal's nodes; without an entry, a unit does not take part. */
  readonly nodes = new Map<string, NodeCopy>([
    ['3 mysql/0', { version: 12, settings: { host: '"10.0.0.4"', port: '3306', password: '"correct horse"' } }],
    ['3 wordpress/1', { version: 1, settings: {} }],
    ['4 wordpress/1', { version: 1, settings: {} }],
    [
      'service',
      { version: 4, settings: { title: '"My blog"', workers: '4', key: '"protected"' }, secretKeys: ['key'] },
    ],
  ]);
  readonly reads: string[] = [];
  readonly learned: string[] = [];
  readonly logged: LogEntry[] = [];
  /** Delays every read of a node until it is resolved. */
  gate: Promise<void> = Promise.resolve();
  readonly contexts = new Contexts({
    readNode: async (name) => {
      const key = keyOf(name);
      this.reads.push(key);
      await this.gate;
      const node = this.nodes.get(key);
      if (node === undefined) throw unitError('NoSuchUnit', 'No such unit takes part.');
      return { ...node, settings: { ...node.settings } };
    },
    portHolder: (port) => (port === '443/tcp' ? 'proxy/0' : null),
  });
  readonly respond = unitCommands({
    contexts: this.contexts,
    now: () => contextInputOf(this.goal, newUnitRecord(), null),
    log: (entry) => this.logged.push(entry),
  });

  /** Begins a hook of the relation db:3, or of the unit if `relation` is null. */
  begin(clientId: string, changes: Partial<ContextInput> = {}): string {
    const input = { ...contextInputOf(this.goal, newUnitRecord(), null), relation: 3, ...changes };
    this.contexts.begin(clientId, input, (texts) => this.learned.push(...texts));
    return clientId;
  }

  /** Changes a node at the portal, as the flush of another unit does. */
  change(key: string, settings: Record<string, string>): void {
    const node = this.nodes.get(key) ?? { version: 0, settings: {} };
    this.nodes.set(key, { ...node, version: node.version + 1, settings: { ...node.settings, ...settings } });
  }

  async call(command: string, values: Record<string, string | Buffer> = {}): Promise<Record<string, string>> {
    const answer: Box = await this.respond(command, boxOf(values));
    return Object.fromEntries([...answer].map(([key, value]) => [key, value.toString()]));
  }

  /** Calls `get` for a node of the relation, by default that of mysql/0. Returns the JSON text. */
  async get(client: string, key = '', unit = 'mysql/0'): Promise<string | undefined> {
    return (await this.call('get', { client_id: client, unit_name: unit, setting_name: key })).value;
  }

  async set(client: string, json: string | Buffer, unit = 'wordpress/1', relation = ''): Promise<void> {
    await this.call('set', { client_id: client, unit_name: unit, json_blob: json, relation_id: relation });
  }
}
