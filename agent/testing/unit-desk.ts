import { createHash } from 'node:crypto';
import { type UnitGoal, type UnitRun, type UnitRunEnd, unitRun } from '#protocol/index.ts';

/** A run of a hook, as the desk stored it. */
export interface DeskRun {
  unit: string;
  run: string;
  begin: Extract<UnitRun, { phase: 'begin' }>;
  end?: UnitRunEnd;
  outcome: 'running' | 'succeeded' | 'failed' | 'interrupted' | 'refused';
  /** Number of times that `end` arrived. */
  ends: number;
}

interface DeskNode {
  version: number;
  clock: number;
  settings: Record<string, string>;
}

interface DeskRelation {
  id: number;
  interface: string;
  life: 'alive' | 'dying';
  clock: number;
  nodes: Map<string, DeskNode>;
  left: Map<string, number>;
}

export interface DeskAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

type Wanted = Pick<UnitGoal, 'unit'> & Partial<Omit<UnitGoal, 'relations'>> & { relations?: [number, string][] };

/** The part of a portal that serves the units of one machine, for tests of the agent. */
export class UnitDesk {
  readonly vmId: string;
  epoch = 'e1';
  revision = 0;
  readonly relations = new Map<number, DeskRelation>();
  readonly runs: DeskRun[] = [];
  readonly skipped: { unit: string; hook: string; run?: string }[] = [];
  readonly removed: string[] = [];
  readonly logs = new Map<string, Buffer>();
  readonly serviceSettings = new Map<string, object>();
  /** Replaces the answers to requests whose path contains the text, until it is deleted. */
  readonly refusals = new Map<string, DeskAnswer>();
  private readonly wanted = new Map<string, Wanted>();
  private readonly onChange: () => void;

  /** `onChange` is called after each change of what the machine should do. */
  constructor(vmId: string, onChange: () => void = () => {}) {
    this.vmId = vmId;
    this.onChange = onChange;
  }

  get stamp(): string {
    const clocks = [...this.relations.values()].reduce((sum, { clock }) => sum + clock, 0);
    return `${this.epoch}.${this.revision}.${clocks}`;
  }

  /** Sets what a unit should be. Fields that are not given stay as they were. */
  want(unit: Wanted): void {
    this.wanted.set(unit.unit, { ...this.wanted.get(unit.unit), ...unit });
    this.revision += 1;
    this.onChange();
  }

  forget(unit: string): void {
    this.wanted.delete(unit);
    this.revision += 1;
    this.onChange();
  }

  /** Returns the formula of a unit, for a package that `packageOf` returned. */
  static formula(version: string, zip: Buffer, hooks: readonly string[]): UnitGoal['formula'] {
    const sha256 = createHash('sha256').update(zip).digest('hex');
    return {
      ...{ id: 'Acme.Blog.wordpress', name: 'wordpress', version, hooks: [...hooks].sort() },
      package: { sha256, size: zip.length, url: `/agent/v1/packages/${sha256}` },
    };
  }

  relation(id: number): DeskRelation {
    const relation = this.relations.get(id) ?? {
      ...{ id, interface: 'mysql', life: 'alive' as const, clock: 0, nodes: new Map(), left: new Map() },
    };
    this.relations.set(id, relation);
    return relation;
  }

  /** Sets settings of a unit in a relation, as the flush of another machine does. A unit that is new joins. */
  set(id: number, unit: string, settings: Record<string, string> = {}): void {
    const relation = this.relation(id);
    const node = relation.nodes.get(unit) ?? { version: 0, clock: 0, settings: {} };
    relation.clock += 1;
    relation.nodes.set(unit, {
      ...{ version: node.version + 1, clock: relation.clock, settings: { ...node.settings, ...settings } },
    });
    this.onChange();
  }

  leave(id: number, unit: string): void {
    const relation = this.relation(id);
    relation.clock += 1;
    relation.left.set(unit, relation.clock);
    this.onChange();
  }

  /** Returns the runs of a unit as `<hook> <outcome>`. */
  history(unit: string): string[] {
    return this.runs.filter((run) => run.unit === unit).map(({ begin, outcome }) => `${begin.hook} ${outcome}`);
  }

  log(run: string): string {
    return (this.logs.get(run) ?? Buffer.alloc(0)).toString();
  }

  answer(method: string, path: string, query: URLSearchParams, body: Buffer, range = ''): DeskAnswer {
    for (const [part, refusal] of this.refusals) if (`${method} ${path}`.includes(part)) return refusal;
    if (path === '/agent/v1/units') return this.unitState(query);
    const [, unit = '', rest = ''] = /^\/agent\/v1\/units\/([^/]+\/\d+)(?:\/(.*))?$/.exec(path) ?? [];
    const [what, ...more] = rest.split('/');
    if (method === 'DELETE') return this.remove(unit);
    if (what === 'settings')
      return { status: 200, body: this.serviceSettings.get(unit) ?? { version: 1, settings: {} } };
    if (what === 'relations') return this.node(unit, Number(more[0]), `${more[1]}/${more[2]}`);
    if (what === 'skipped') {
      const { skipped } = JSON.parse(body.toString()) as { skipped: { hook: string }[] };
      this.skipped.push(...skipped.map((each) => ({ unit, ...each })));
      this.onSkipped(unit, skipped);
      return { status: 204 };
    }
    const [run = '', part] = more;
    if (part === 'log') return this.takeLog(run, body, range);
    const document = unitRun.parse(JSON.parse(body.toString()));
    return document.phase === 'begin' ? this.begin(unit, run, document) : this.end(unit, run, document);
  }

  private onSkipped(unit: string, skipped: { hook: string }[]): void {
    if (skipped.some(({ hook }) => hook === 'start')) this.enter(unit);
  }

  private unitState(query: URLSearchParams): DeskAnswer {
    const after = query.get('epoch') === this.epoch ? (query.get('after') ?? '') : '';
    const held = new Map(after.split(',').map((each) => each.split(':').map(Number) as [number, number]));
    const units = [...this.wanted.values()].map((unit) => this.goalOf(unit, held));
    return {
      status: 200,
      headers: { 'annex-units': `"${this.stamp}"` },
      body: { protocol: 1, vmId: this.vmId, epoch: this.epoch, units },
    };
  }

  private goalOf({ relations = [], ...unit }: Wanted, held: Map<number, number>): object {
    return {
      ...{ model: 'prod', turn: 1, goal: 'alive', serviceExposed: false, settingsVersion: 1 },
      ...{ timeouts: { default: 30 }, masked: [], resolution: null },
      addresses: { private: '10.0.0.5', public: null },
      ...unit,
      relations: relations.map(([id, name]) => {
        const { interface: kind, life, clock, nodes, left } = this.relation(id);
        const from = held.get(id) ?? -1;
        const members = [...nodes]
          .filter(([other]) => other !== unit.unit)
          .map(([other, { version, clock: at }]) => {
            const leftAt = left.get(other);
            return leftAt === undefined
              ? { unit: other, version, clock: at }
              : { unit: other, left: true as const, clock: leftAt };
          })
          .filter((member) => (from < 0 ? !('left' in member) : member.clock > from));
        return { id, name, interface: kind, life, clock, whole: from < 0, members };
      }),
    };
  }

  private node(unit: string, id: number, of: string): DeskAnswer {
    const node = this.relations.get(id)?.nodes.get(of);
    if (!this.wanted.has(unit) || node === undefined) return problem(404, 'node_unknown');
    return { status: 200, body: { version: node.version, settings: node.settings } };
  }

  private begin(unit: string, run: string, begin: DeskRun['begin']): DeskAnswer {
    if (!this.wanted.has(unit)) return problem(409, 'unit_gone');
    const known = this.runs.findIndex((each) => each.run === run);
    if (known >= 0) return { status: 200, body: { number: known + 1 } };
    for (const each of this.runs) if (each.unit === unit && each.outcome === 'running') each.outcome = 'interrupted';
    this.runs.push({ unit, run, begin, outcome: 'running', ends: 0 });
    return { status: 200, body: { number: this.runs.length } };
  }

  /** Stores an outcome, and its changes only once. */
  private end(unit: string, run: string, end: UnitRunEnd): DeskAnswer {
    if (!this.wanted.has(unit)) return problem(409, 'unit_gone');
    const found = this.runs.find((each) => each.run === run);
    if (found === undefined) return problem(409, 'run_unknown');
    if (found.outcome === 'interrupted') return problem(409, 'run_superseded');
    found.ends += 1;
    if (found.end !== undefined) return { status: 200, body: { outcome: 'repeated', versions: {} } };
    const isSuccess = end.exitCode === 0 && !end.timedOut;
    Object.assign(found, { end, outcome: isSuccess ? 'succeeded' : 'failed' });
    if (found.begin.hook === 'start' && isSuccess) this.enter(unit);
    for (const { relation, set, remove } of end.changes ?? []) {
      const { settings = {} } = this.relation(relation).nodes.get(unit) ?? {};
      for (const key of remove) delete settings[key];
      this.set(relation, unit, set);
    }
    return { status: 200, body: { outcome: 'stored', versions: {} } };
  }

  private enter(unit: string): void {
    for (const [id] of this.wanted.get(unit)?.relations ?? []) {
      if (!this.relation(id).nodes.has(unit)) this.set(id, unit);
    }
  }

  private takeLog(run: string, bytes: Buffer, range: string): DeskAnswer {
    if (!this.runs.some((each) => each.run === run)) return problem(404, 'run_unknown');
    const from = Number(/^bytes (\d+)-/.exec(range)?.[1] ?? 0);
    const before = this.logs.get(run) ?? Buffer.alloc(0);
    if (from > before.length) return { status: 204, headers: { 'annex-output-bytes': String(before.length) } };
    const whole = Buffer.concat([before.subarray(0, from), bytes]);
    if (whole.length > before.length) this.logs.set(run, whole);
    return { status: 204, headers: { 'annex-output-bytes': String(Math.max(whole.length, before.length)) } };
  }

  private remove(unit: string): DeskAnswer {
    if (!this.wanted.has(unit)) return problem(404, 'unit_unknown');
    if (this.wanted.get(unit)?.goal !== 'leaving') return problem(409, 'unit_alive');
    this.removed.push(unit);
    this.forget(unit);
    return { status: 204 };
  }
}

const problem = (status: number, code: string): DeskAnswer => ({ status, body: { code, title: code } });
