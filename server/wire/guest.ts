import type { AgentSighting } from '#db/schema/index.ts';
import type { KnownAgent } from '#server/agent-api/memory/agent-memory.ts';
import type { Bucket } from '#server/agent-api/rate-limit.ts';
import type { Context } from '#server/domain/context.ts';
import {
  deliverStockGoalState,
  noteStockAgent,
  type StockAgentNews,
  type StockGoalState,
} from '#server/domain/stock-agents/index.ts';
import { Observed } from './observed.ts';
import type { Pages } from './pages.ts';
import { StatusCache } from './status-cache.ts';

/** The data that a process caches about a VM with a stock agent, including the response to its polls. */
export class Guest {
  readonly vmId: string;
  /** Hash of the forwarder's token. */
  readonly hash: string;
  /** The agent, as of its last lookup. */
  agent: KnownAgent;
  goalState: StockGoalState | null = null;
  readonly pages: Pages;
  /**
   * Whether a request of each kind is being processed. While one is, further requests of that kind are dropped, because
   * the agent repeats them.
   */
  readonly isProcessing = { status: false, telemetry: false, health: false, log: false, sighting: false };
  /** Number of bytes of this VM's request bodies that are being read. */
  arriving = 0;
  /** The transport certificate of the agent's last request, and the bucket that limits new certificates. */
  transport = '';
  readonly renewals: Bucket = { left: Number.POSITIVE_INFINITY, at: 0 };
  readonly statuses = new StatusCache();
  readonly observed = new Observed();
  /** The VM's callers, as this process knows them. */
  sightings: readonly AgentSighting[] = [];
  /**
   * Whether commands may be running. Initially true; becomes true again when the agent fetches its extensions, and
   * false when it uploads a status.
   */
  isBusy = true;
  /** When a sighting was last recorded, in milliseconds. */
  notedAt = 0;
  #loading: Promise<StockGoalState | null> | null = null;
  /** The rendered response to polls. */
  #text: string | null = null;

  constructor(vmId: string, hash: string, agent: KnownAgent, pages: Pages) {
    this.vmId = vmId;
    this.hash = hash;
    this.agent = agent;
    this.pages = pages;
  }

  /** Returns the cached goal state if it is current and its incarnation is at least `least`; otherwise null. */
  known(least = 0): StockGoalState | null {
    const { goalState } = this;
    const isInForce = goalState !== null && goalState.etag === this.agent.etag && goalState.incarnation >= least;
    return isInForce ? goalState : null;
  }

  /**
   * Reads the current goal state. Returns null if the VM no longer has stock agent access. If a read that was already
   * running returns an incarnation below `least`, reads again.
   */
  async current(ctx: Context, least = 0): Promise<StockGoalState | null> {
    const isUnderWay = this.#loading !== null;
    const loaded = await this.#load(ctx);
    // A read that was already running may have missed the latest change.
    if (isUnderWay && loaded !== null && loaded.incarnation < least) return this.#load(ctx);
    return loaded;
  }

  #load(ctx: Context): Promise<StockGoalState | null> {
    this.#loading ??= deliverStockGoalState(ctx, this.vmId)
      .then((loaded) => {
        if (loaded !== null) {
          this.goalState = loaded;
          this.sightings = loaded.sightings;
        }
        this.#text = null;
        return loaded;
      })
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  /** Returns a goal state as rendered by `write`. The cached goal state is rendered only once. */
  text(goalState: StockGoalState, write: () => string): string {
    if (goalState !== this.goalState) return write();
    this.#text ??= write();
    return this.#text;
  }

  /** Stores what the agent reports about itself, if it has changed. */
  async note(ctx: Context, goalState: StockGoalState, news: StockAgentNews): Promise<void> {
    if (JSON.stringify(news) === JSON.stringify(goalState.heard)) return;
    await noteStockAgent(ctx, this.vmId, news);
    goalState.heard = news;
  }
}
