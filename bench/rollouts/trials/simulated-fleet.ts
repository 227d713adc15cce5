import type pg from 'pg';
import { extension } from '../given-rollout.ts';
import { type StoredReport, storeDeliveries, storeHealth } from '../stored-reports.ts';

/** How often VMs fail. Rates are shares of VMs in the usual time of a step. */
export interface FailureRates {
  /** VMs that fail because of the change, as soon as they have it. */
  changed: number;
  /** VMs that fail for other reasons, whether changed or not. */
  others: number;
}

/** Seconds of a step: its agent fetches, runs the command, and the VM soaks for five minutes. */
const stepSeconds = 360;
/** Seconds after which a VM that failed for another reason is healthy again. */
const failureSeconds = 600;
const longestFetch = 15;
const longestCommand = 60;

interface SimulatedVm {
  id: string;
  isHealthy: boolean;
  /** When the VM fails next for another reason, or is healthy again. */
  turnsAt: number;
  /** When its agent fetches the new goal state, and when it reports; infinite without a new one. */
  fetchesAt: number;
  reportsAt: number;
}

/**
 * VMs and their agents in simulated time, in seconds. They fetch goal states and report; they fail because of the
 * change or for other reasons. What they report is written as the portal stores it.
 */
export class SimulatedFleet {
  readonly #client: pg.Pool;
  readonly #vms: Map<string, SimulatedVm>;
  readonly #rates: FailureRates;
  readonly #random: () => number;
  readonly #perSecond: number;

  constructor(client: pg.Pool, ids: readonly string[], rates: FailureRates, random: () => number, now: number) {
    this.#client = client;
    this.#rates = rates;
    this.#random = random;
    this.#perSecond = -Math.log(1 - rates.others) / stepSeconds;
    const never = Number.POSITIVE_INFINITY;
    this.#vms = new Map(
      ids.map((id) => [
        id,
        { id, isHealthy: true, turnsAt: now + this.#untilFailure(), fetchesAt: never, reportsAt: never },
      ]),
    );
  }

  /** Gives VMs a new goal state, which their agents fetch soon. */
  publish(ids: readonly string[], now: number): void {
    for (const id of ids) {
      const vm = this.#vms.get(id);
      if (vm === undefined) continue;
      vm.fetchesAt = now + this.#random() * longestFetch;
      vm.reportsAt = vm.fetchesAt + 5 + this.#random() * (longestCommand - 5);
    }
  }

  /** Returns when one of these VMs does something next. */
  nextAt(ids: Iterable<string>): number {
    let next = Number.POSITIVE_INFINITY;
    for (const id of ids) {
      const vm = this.#vms.get(id);
      if (vm === undefined) continue;
      const isBusy = vm.reportsAt < Number.POSITIVE_INFINITY;
      next = Math.min(next, vm.fetchesAt, isBusy ? vm.reportsAt : vm.turnsAt);
    }
    return next;
  }

  /** Lets everything happen until this time. Returns the VMs that called the portal. */
  async advance(now: number): Promise<string[]> {
    const fetched: string[] = [];
    const reports: StoredReport[] = [];
    for (const vm of this.#vms.values()) {
      if (vm.fetchesAt <= now) {
        fetched.push(vm.id);
        vm.fetchesAt = Number.POSITIVE_INFINITY;
      }
      if (this.#turn(vm, now)) reports.push({ vmId: vm.id, health: vm.isHealthy ? 'healthy' : 'failed' });
    }
    const at = new Date(now * 1_000);
    await storeDeliveries(this.#client, fetched, at);
    await storeHealth(this.#client, extension, reports, at);
    return [...fetched, ...reports.map(({ vmId }) => vmId)];
  }

  /** Returns whether the VM reports something. While a command runs, other failures show only in its report. */
  #turn(vm: SimulatedVm, now: number): boolean {
    if (vm.reportsAt < Number.POSITIVE_INFINITY) {
      if (vm.reportsAt > now) return false;
      const isBad = this.#random() < this.#rates.changed;
      const hasFailed = vm.isHealthy && vm.turnsAt <= vm.reportsAt;
      this.#becomes(vm, !isBad && !hasFailed, vm.reportsAt);
      vm.reportsAt = Number.POSITIVE_INFINITY;
      return true;
    }
    const before = vm.isHealthy;
    while (vm.turnsAt <= now) this.#becomes(vm, !vm.isHealthy, vm.turnsAt);
    return vm.isHealthy !== before;
  }

  #becomes(vm: SimulatedVm, isHealthy: boolean, at: number): void {
    vm.isHealthy = isHealthy;
    vm.turnsAt = at + (isHealthy ? this.#untilFailure() : failureSeconds);
  }

  #untilFailure = (): number => -Math.log(1 - this.#random()) / Math.max(this.#perSecond, 1e-12);
}
