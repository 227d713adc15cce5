import type { UnitGoal } from '#protocol/index.ts';
import { checkSize, type NodeTexts, nodeJson, readChanges } from './node-texts.ts';
import { type OpenedPorts, type PortName, PortWords } from './port-words.ts';
import type { NodeCopy, NodeName, ReadNode } from './read-node.ts';
import { isSecretKey, secretTexts } from './secret-keys.ts';
import { unitError } from './unit-error.ts';

/** A relation as it was when the hook began. */
export interface ContextRelation {
  id: number;
  name: string;
  /** The units of the other side, in order. */
  members: readonly string[];
  /** Whether the unit may set its settings in the relation. */
  isWritable: boolean;
}

/** What a hook, or a command outside of hooks, may know and do. */
export interface ContextInput {
  unit: string;
  relations: readonly ContextRelation[];
  /** The relation that the hook is for; null in hooks of the unit. */
  relation: number | null;
  addresses: UnitGoal['addresses'];
  /** Keys that the formula masks. */
  masked: readonly string[];
}

export interface ContextServices {
  readNode: ReadNode;
  /** Receives texts to mask in the output of the hook, before a command prints them. */
  learn?(texts: string[]): void;
  /** Returns the other unit of this machine that has the port open; null if there is none. */
  portHolder?(port: PortName): string | null;
}

/** What a hook changed, in the form of the request that ends its run. */
export interface HookChanges {
  views: ({ relation: number; unit: string; version: number } | { settings: number })[];
  changes: { relation: number; set: Record<string, string>; remove: string[] }[];
  ports: OpenedPorts;
}

interface OpenNode {
  name: NodeName;
  version: number;
  before: NodeTexts;
  now: NodeTexts;
  secretKeys: readonly string[];
}

/** The view that one client has of the settings, and what it has changed. */
export class HookContext {
  readonly input: ContextInput;
  private readonly services: ContextServices;
  /** One promise for each node, so that a node is read once, although two commands need it at the same time. */
  private readonly nodes = new Map<string, Promise<OpenNode>>();
  private readonly read: OpenNode[] = [];
  private readonly ports: PortWords;
  private isClosed = false;

  constructor(input: ContextInput, services: ContextServices) {
    this.input = input;
    this.services = services;
    this.ports = new PortWords(services.portHolder ?? (() => null));
  }

  /** Returns the relation that a command names or, if it names none, the one that it must mean. */
  relationOf(name: string): ContextRelation {
    const { relations, relation } = this.input;
    if (name !== '') {
      const found = relations.find(({ id, name: own }) => name === String(id) || name === `${own}:${id}`);
      if (found === undefined) throw unitError('NoSuchUnit', `The unit is in no relation ${name}.`);
      return found;
    }
    const meant = relation === null ? relations : relations.filter(({ id }) => id === relation);
    const [only] = meant;
    if (only === undefined || meant.length > 1) throw unitError('BadValue', 'relation_id is missing.');
    return only;
  }

  /** Returns the JSON text of a value, or of the whole node if `key` is empty. */
  async get(name: NodeName, key: string): Promise<string> {
    const node = await this.touch(name);
    if (key === '') {
      for (const each of node.now.keys()) this.learn(node, each);
      return nodeJson(node.now);
    }
    const text = node.now.get(key);
    if (text === undefined) throw unitError('KeyError', key);
    this.learn(node, key);
    return text;
  }

  /** Changes the unit's own settings in a relation, for this client only. JSON `null` removes a key (EN-41). */
  async set({ id, isWritable, name }: ContextRelation, json: string): Promise<void> {
    if (!isWritable) throw unitError('NotPermitted', `Nothing can be set in the relation ${name}:${id}, which ends.`);
    const changes = readChanges(json);
    const node = await this.touch({ relation: id, unit: this.input.unit });
    const now = new Map(node.now);
    for (const [key, text] of changes) {
      if (text === 'null') now.delete(key);
      else now.set(key, text);
    }
    checkSize(now);
    node.now = now;
    for (const key of changes.keys()) this.learn(node, key);
  }

  setPort(port: PortName, isOpen: boolean): void {
    this.ports.set(port, isOpen);
  }

  /** Ends the context: later commands, and those that are still waiting, are rejected (EN-13). */
  close(): HookChanges {
    this.isClosed = true;
    const views = this.read.map(({ name, version }) =>
      name === 'service' ? { settings: version } : { ...name, version },
    );
    const changes = this.read.flatMap(({ name, before, now }) => {
      if (name === 'service') return [];
      const set = [...now].filter(([key, text]) => before.get(key) !== text);
      const remove = [...before.keys()].filter((key) => !now.has(key));
      return set.length + remove.length === 0 ? [] : [{ relation: name.relation, set: textsOf(set), remove }];
    });
    return { views, changes, ports: this.ports.changes() };
  }

  /** Returns the client's view of a node, which is read when it is first needed (EN-5, EN-6). */
  private async touch(name: NodeName): Promise<OpenNode> {
    const key = name === 'service' ? name : `${name.relation} ${name.unit}`;
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = this.services.readNode(name).then((content) => this.open(name, content));
      this.nodes.set(key, node);
      // A node that could not be read is tried again by the next command.
      node.catch(() => this.nodes.delete(key));
    }
    const opened = await node;
    if (this.isClosed) throw unitError('UnknownClient', 'The hook of this client has ended.');
    return opened;
  }

  private open(name: NodeName, { version, settings, secretKeys = [] }: NodeCopy): OpenNode {
    const texts: NodeTexts = new Map(Object.entries(settings));
    const node: OpenNode = { name, version, before: texts, now: texts, secretKeys };
    if (!this.isClosed) this.read.push(node);
    return node;
  }

  private learn({ now, secretKeys }: OpenNode, key: string): void {
    const text = now.get(key);
    if (text === undefined || !(secretKeys.includes(key) || isSecretKey(key, this.input.masked))) return;
    this.services.learn?.(secretTexts(text));
  }
}

/** Returns an object with own properties only, because a key may be `__proto__`. */
function textsOf(entries: [string, string][]): Record<string, string> {
  return Object.fromEntries(entries);
}
