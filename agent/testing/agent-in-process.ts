import type { AgentLayout } from '../folder/layout.ts';
import { openJournal } from '../journal.ts';
import type { Caller } from '../portal/call.ts';
import { Agent, type AgentOptions } from '../work/agent.ts';

/** An agent that runs in the same process as the test, on the disk of one machine. */
export interface AgentInProcess {
  /** The lines of the agent's journal. */
  lines: string[];
  /** Starts the agent. To restart it on the same disk, call `stop` first. */
  start(options?: Partial<AgentOptions>): Promise<Agent>;
  stop(): Promise<void>;
}

/** Returns the agent of an enrolled machine. `usual` overrides the default options of every start. */
export function agentInProcess(layout: AgentLayout, call: Caller, usual: Partial<AgentOptions> = {}): AgentInProcess {
  const lines: string[] = [];
  let running: { agent: Agent; polling: Promise<void> } | null = null;
  return {
    lines,
    async start(options = {}) {
      const agent = new Agent({
        layout,
        journal: openJournal(layout.logs, (line) => lines.push(line)),
        heartbeatSeconds: 120,
        statusSeconds: 300,
        statusAfterConclusion: 'follow',
        call,
        // Lets handlers and scripts find the programs of the test run.
        environment: { PATH: process.env.PATH },
        ...usual,
        ...options,
      });
      await agent.start();
      running = { agent, polling: agent.poll() };
      return agent;
    },
    async stop() {
      await running?.agent.stop();
      await running?.polling;
      running = null;
    },
  };
}
