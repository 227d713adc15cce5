import type { KnownAgent } from '#server/agent-api/agent-memory.ts';
import type { Context } from '#server/domain/context.ts';
import {
  handOutGoalState,
  noteStockAgent,
  type StockAgentNews,
  type StockGoalState,
} from '#server/domain/stock-agents/index.ts';
import { Pages } from './pages.ts';
import { Said } from './said.ts';

/** What a process keeps of a VM whose stock agent calls: so that a poll is a look into memory. */
export class Guest {
  readonly vmId: string;
  /** Of its forwarder's token. */
  readonly hash: string;
  /** As it was found last. */
  agent: KnownAgent;
  goalState: StockGoalState | null = null;
  /** Texts of the goal state, as they went out. */
  readonly texts = new Map<string, string>();
  readonly pages = new Pages();
  readonly said = new Said();
  /** Commands may be running, since its last status or since this process knows it. */
  isBusy = true;
  /** When it was last noted that the agent is there, in milliseconds. */
  notedAt = 0;
  #loading: Promise<StockGoalState | null> | null = null;

  constructor(vmId: string, hash: string, agent: KnownAgent) {
    this.vmId = vmId;
    this.hash = hash;
    this.agent = agent;
  }

  /** The goal state in force: from memory, where it is the one that the agent's row names. */
  async current(ctx: Context): Promise<StockGoalState | null> {
    if (this.goalState !== null && this.goalState.etag === this.agent.etag) return this.goalState;
    this.#loading ??= handOutGoalState(ctx, this.vmId).finally(() => {
      this.#loading = null;
    });
    const loaded = await this.#loading;
    if (loaded === null) return null;
    if (this.goalState?.etag !== loaded.etag) this.texts.clear();
    this.goalState = loaded;
    return loaded;
  }

  /** A text of the goal state, written once. */
  text(goalState: StockGoalState, name: string, write: () => string): string {
    const known = goalState === this.goalState ? this.texts.get(name) : undefined;
    const text = known ?? write();
    if (goalState === this.goalState) this.texts.set(name, text);
    return text;
  }

  /** Writes down what the agent says of itself, where that is news. */
  async note(ctx: Context, goalState: StockGoalState, news: StockAgentNews): Promise<void> {
    if (JSON.stringify(news) === JSON.stringify(goalState.heard)) return;
    await noteStockAgent(ctx, this.vmId, news);
    goalState.heard = news;
  }
}
