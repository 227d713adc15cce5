import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { endpointsChannel, listRoleInstances, noteFabric, readReachable } from '#server/domain/topology/index.ts';
import type { SpawnedAgents } from './agents/spawned-agents.ts';
import type { ProxyLimits } from './proxy/limits.ts';
import { PortProxy } from './proxy/port-proxy.ts';

type FabricServices = Services & Pick<Context, 'log'>;

/** Intervals of the fabric, in milliseconds. */
export interface FabricPace {
  /** Between two reads of the endpoints if no wake-up arrives, in case one is lost. */
  readMs: number;
  /** Between two notes of traffic, if there is any. */
  noteMs: number;
  /** Between two notes if nothing changed, so that the fabric is known to be running. */
  aliveMs: number;
}

const defaultPace: FabricPace = { readMs: 5_000, noteMs: 5_000, aliveMs: 30_000 };

interface FabricOptions {
  limits?: Partial<ProxyLimits>;
  pace?: Partial<FabricPace>;
  /** The agents of roles, with `ANNEX_FABRIC=spawn`. */
  agents?: SpawnedAgents | null;
}

/** Serves the reachable endpoints of all cloud services at their public addresses. */
export class Fabric {
  readonly #services: FabricServices;
  readonly #pace: FabricPace;
  readonly #proxy: PortProxy;
  readonly #agents: SpawnedAgents | null;
  readonly #stopping = new AbortController();
  #wake = new AbortController();
  #noted = { faults: '', at: Number.NEGATIVE_INFINITY };

  constructor(services: FabricServices, options: FabricOptions = {}) {
    this.#services = services;
    this.#pace = { ...defaultPace, ...options.pace };
    this.#proxy = new PortProxy(options.limits);
    this.#agents = options.agents ?? null;
  }

  /** Runs until `stop` is called. */
  async run(): Promise<void> {
    const listening = this.#services.wakes.listen([endpointsChannel], {
      heard: () => this.#wake.abort(),
      lost: () => {},
      back: () => this.#wake.abort(),
    });
    while (!this.#stopping.signal.aborted) {
      // A wake-up during the pass begins the next one.
      this.#wake = new AbortController();
      await this.#pass();
      const signal = AbortSignal.any([this.#wake.signal, this.#stopping.signal]);
      await delay(this.#pace.readMs, undefined, { signal }).catch(() => {});
    }
    await listening.close();
    this.#proxy.sweep();
    await Promise.all([this.#note(), this.#agents?.stop()]);
    this.#proxy.close();
  }

  /** Stops serving, and ends all connections. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Reads what is reachable and serves it. While the database is unavailable, serves what was read last. */
  async #pass(): Promise<void> {
    try {
      const { endpoints, standing } = await readReachable(this.#contextNow());
      await this.#proxy.serve(endpoints, standing);
      if (this.#isNoteDue()) await this.#note();
      // Does not wait, because enrolling an agent takes seconds.
      this.#agents?.follow(() => listRoleInstances(this.#contextNow()));
    } catch (error) {
      this.#services.log.warn({ err: error }, 'the endpoints could not be read');
    }
  }

  #isNoteDue(): boolean {
    const since = performance.now() - this.#noted.at;
    const isNews = JSON.stringify(this.#proxy.faults()) !== this.#noted.faults;
    return isNews || since >= this.#pace.aliveMs || (since >= this.#pace.noteMs && this.#proxy.hasTraffic());
  }

  async #note(): Promise<void> {
    const [faults, traffic] = [this.#proxy.faults(), this.#proxy.takeTraffic()];
    try {
      await noteFabric(this.#contextNow(), { faults, traffic });
      this.#noted = { faults: JSON.stringify(faults), at: performance.now() };
    } catch (error) {
      this.#proxy.returnTraffic(traffic);
      this.#services.log.warn({ err: error }, 'the traffic of the endpoints could not be stored');
    }
  }

  #contextNow(): Context {
    const call = { actor: systemActor, origin: systemOrigin, now: new Date(), requestId: randomUUID() };
    return { ...this.#services, ...call };
  }
}
