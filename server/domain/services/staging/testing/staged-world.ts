import { v7 as uuid } from 'uuid';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addRelation, addUnits, beginRun, endRun, getDue, getService, planSwap, swap } from '../../index.ts';
import type { AddUnitsInput } from '../../input.ts';
import { ServiceStage } from '../../testing/service-stage.ts';

const events = ['joined', 'changed', 'departed', 'broken'];
const hooksOf = (relation: string) => events.map((event) => `${relation}-relation-${event}`);
const text = (standard: string) => ({ type: 'string', default: standard });
const schemaOf = (properties: Record<string, unknown>) => ({
  settingsSchema: { publicSettings: { type: 'object', properties, additionalProperties: false } },
});

/** A unit with its machine. */
export interface WorldUnit {
  unit: string;
  vmId: string;
}

/** A model with a service `blog` that requires `mysql`, whose version 1.1 has one more setting. */
export class StagedWorld {
  readonly stage: ServiceStage;
  readonly staged: Staged;

  private constructor(stage: ServiceStage, staged: Staged) {
    this.stage = stage;
    this.staged = staged;
  }

  /** `hasSchemas`: whether settings are checked. It takes most of the time of a test. */
  static async open({ hasSchemas = false } = {}): Promise<StagedWorld> {
    const stage = await ServiceStage.open();
    const settings = (properties: Record<string, unknown>) => (hasSchemas ? schemaOf(properties) : {});
    const provides = { metadata: { provides: { db: { interface: 'mysql' } } }, relationHooks: hooksOf('db') };
    const title = text('Shop');
    await stage.formula('mysql', '1.0.0.0', { ...provides, ...settings({ title }) });
    await stage.formula('mysql', '1.1.0.0', { ...provides, ...settings({ title, color: text('red') }) });
    await stage.formula('mysql', '2.0.0.0', settings({}));
    const requires = { metadata: { requires: { store: { interface: 'mysql' } } }, relationHooks: hooksOf('store') };
    await stage.formula('blog', '1.0.0.0', requires);
    return new StagedWorld(stage, await stage.stage.bootstrapped({ availabilitySetsEnabled: true }));
  }

  /** Starts over with another model. */
  async next(): Promise<StagedWorld> {
    return new StagedWorld(this.stage, await this.stage.stage.bootstrapped({ availabilitySetsEnabled: true }));
  }

  get model(): string {
    return this.staged.model;
  }

  /** Deploys a service whose units run all of their hooks. */
  async deploy(service: 'blog' | 'mysql', count: number): Promise<WorldUnit[]> {
    const formula = { formula: `Acme.Lab.${service}`, version: '1.0' };
    const { units } = await this.stage.deploy(this.staged, service, { ...formula, units: count });
    for (const unit of units) await this.settle(unit);
    return units;
  }

  add(more: Partial<AddUnitsInput>) {
    const input = { model: this.model, service: 'mysql', count: 1, ...more };
    return addUnits(this.stage.ctx, input, this.staged.provider);
  }

  /** Adds units of `mysql` to Staging, which run all of their hooks. */
  async stageUnits(count: number, version?: string): Promise<WorldUnit[]> {
    const { units } = await this.add({ count, slot: 'staging', version });
    for (const { machine } of units) if (machine !== null) await this.stage.enroll(machine);
    const added = units.map(({ unit, machine }) => ({ unit, vmId: machine?.vmId ?? '' }));
    for (const unit of added) await this.settle(unit);
    return added;
  }

  async relate(): Promise<void> {
    await addRelation(this.stage.ctx, { model: this.model, endpoints: ['blog:store', 'mysql:db'] });
  }

  /** Runs the hooks of a unit until none is due. Returns them, with their remote units. */
  async settle({ unit, vmId }: WorldUnit): Promise<string[]> {
    const ran: string[] = [];
    for (;;) {
      const [due] = await this.due({ unit });
      if (due === undefined) return ran;
      if (ran.length > 40) throw new Error(`the hooks of ${unit} do not end: ${ran.slice(-3).join()}`);
      const goal = (await this.stage.look(vmId)).find((one) => one.unit === unit);
      if (goal === undefined) throw new Error(`${unit} is not on its machine`);
      const run = { vmId, unit, run: uuid() };
      const { hook, relation, remoteUnit, version } = due;
      await beginRun(this.stage.ctx, run, {
        ...{ phase: 'begin', hook, attempt: 1, formula: goal.formula.version, timeoutSeconds: 9 },
        ...(relation !== null && { relation }),
        ...(remoteUnit !== null && { remoteUnit }),
        ...(version !== null && { version }),
        ...(hook === 'config-changed' && { address: goal.addresses.public }),
      });
      const end = { exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '', views: [], reason: null };
      await endRun(this.stage.ctx, run, { phase: 'end', ...end });
      ran.push([hook, remoteUnit].filter((part) => part !== null).join(' '));
    }
  }

  /** Runs all hooks of several units, including those that the hooks of others cause. */
  async settleAll(units: readonly WorldUnit[]): Promise<void> {
    for (const unit of units) await this.settle(unit);
  }

  async due({ unit }: { unit: string }) {
    return (await getDue(this.stage.ctx, { model: this.model, unit })).items.filter(({ hasFile }) => hasFile);
  }

  /** Returns the hooks that are due on each unit, with how often and with their remote units. */
  async dueOf(units: readonly { unit: string }[]) {
    const all = [];
    for (const { unit } of units) {
      const byHook = Map.groupBy(await this.due({ unit }), ({ hook }) => hook);
      const hooks = [...byHook].map(([hook, due]) => {
        return { hook, count: due.length, remoteUnits: due.flatMap(({ remoteUnit }) => remoteUnit ?? []) };
      });
      if (hooks.length > 0) all.push({ unit, hooks });
    }
    return all;
  }

  async cloudService(): Promise<string> {
    const instance = (await this.service()).units[0]?.instanceId ?? '';
    return instance.slice(0, instance.lastIndexOf('-'));
  }

  async plan() {
    return planSwap(this.stage.ctx, { cloudService: await this.cloudService() });
  }

  async swap(plan?: string) {
    return swap(this.stage.ctx, { cloudService: await this.cloudService(), plan }, this.staged.provider);
  }

  service(service = 'mysql') {
    return getService(this.stage.ctx, { model: this.model, service });
  }

  /** Returns each unit of `mysql` with its slot and version. */
  async slots(): Promise<string[]> {
    const { units } = await this.service();
    return units.map(({ unit, slot, version }) => `${unit} ${slot} ${version}`);
  }
}
