import { v7 as uuid } from 'uuid';
import { confirmHook } from '#protocol/confirm-hook.ts';
import { type DueHook, hooksDue } from '#protocol/hooks.ts';
import { afterOf, forgetRelations, receiveUnits } from '#protocol/receive-units.ts';
import { newUnitRecord, type UnitRecord } from '#protocol/unit-record.ts';
import { causeOfRun } from '#protocol/unit-runs.ts';
import type { UnitGoal, UnitState } from '#protocol/unit-state.ts';
import type { StagedUnit } from '../../testing/unit-stage.ts';

/** Runs the hooks of one unit over HTTP, as the guest agent does, by the rules of the protocol. */
export class ObedientAgent {
  readonly unit: StagedUnit;
  record: UnitRecord = newUnitRecord();
  held: UnitState | null = null;
  isGone = false;

  constructor(unit: StagedUnit) {
    this.unit = unit;
  }

  /** Fetches the unit’s goal, and returns what is due now; null if the unit is no longer on the machine. */
  async look(): Promise<{ goal: UnitGoal; due: DueHook[] } | null> {
    const known = this.held === null ? '' : `?epoch=${this.held.epoch}&after=${afterOf(this.held)}`;
    const { state } = await this.unit.look(known);
    this.held = receiveUnits(this.held, state, () => this.record);
    const goal = this.held.units.find(({ unit }) => unit === this.unit.name);
    this.isGone = goal === undefined;
    if (goal === undefined) return null;
    this.record = forgetRelations(goal, this.record);
    return { goal, due: hooksDue(goal, this.record) };
  }

  /**
   * Does the next thing that is due, and sets values in relations if the hook is one. Returns whether it did anything.
   */
  async step(set: Record<string, string> = {}): Promise<boolean> {
    const found = await this.look();
    if (found === null) return false;
    const [due] = found.due;
    if (due !== undefined) return this.#run(due, set);
    if (found.goal.goal === 'alive') return false;
    const { status } = await this.unit.call('', undefined, 'DELETE');
    if (status !== 204) throw new Error(`the removal is answered with ${status}`);
    return true;
  }

  /** Begins the next hook, and is killed. */
  async crash(): Promise<void> {
    const due = (await this.look())?.due[0];
    if (due !== undefined) await this.#begin(uuid(), due);
  }

  async #run(due: DueHook, set: Record<string, string>): Promise<boolean> {
    const run = uuid();
    const begun = await this.#begin(run, due);
    if (begun.status !== 200) throw new Error(`begin is answered with ${begun.status}: ${await begun.text()}`);
    const isSetting = due.kind === 'joined' || due.kind === 'changed';
    const changes = isSetting && due.relation ? [{ relation: due.relation.id, set, remove: [] }] : [];
    const ended = await this.unit.end(run, { changes });
    if (ended.status !== 200) throw new Error(`end is answered with ${ended.status}: ${await ended.text()}`);
    this.record = confirmHook(this.record, due);
    return true;
  }

  #begin(run: string, due: DueHook): Promise<Response> {
    const { hook, ...cause } = causeOfRun(due);
    return this.unit.begin(run, hook, cause);
  }
}
