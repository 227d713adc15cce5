import path from 'node:path';
import { vi } from 'vitest';
import { Api, type ExtensionView, type InstanceView } from '../support/api.ts';
import { type Portal, startPortal } from '../support/portal.ts';
import { inShort, type ProbeCall, probeCalls, publishProbes } from './probe.ts';
import { StockMachine } from './stock-machine.ts';
import { agentPackage, cacheFolder, suiteHere } from './waagent-package.ts';

/** How long to wait for the agent: a round takes seconds, and each handler command takes two more. */
const patience = { timeout: 90_000, interval: 250 };

/** A portal with an enabled wire server and the published probes, and the machines of its VMs. */
export class Stage {
  readonly portal: Portal;
  readonly api: Api;
  private readonly actors = new Set<Actor>();

  private constructor(portal: Portal) {
    this.portal = portal;
    this.api = new Api(portal);
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await startPortal({ ANNEX_WIRE: 'on' }));
    await publishProbes(stage.api).catch(async (error: unknown) => {
      await stage.close();
      throw error;
    });
    return stage;
  }

  /** Creates a VM with stock agent access, and its machine with a running agent. */
  async enter(name: string): Promise<Actor> {
    const { id } = await this.api.createVm(name);
    const { token } = await this.api.call<{ token: string }>('POST', `/vms/${id}/wire-access`);
    const agent = await agentPackage(cacheFolder, process.env.ANNEX_STOCK_SUITE ?? (await suiteHere()));
    const machine = await StockMachine.make({
      name,
      agent,
      gatewayUrl: this.portal.gatewayUrl,
      vmId: id,
      token,
      settings: { 'Extensions.GoalStatePeriod': '2', 'Extensions.InitialGoalStatePeriod': '2' },
      logs: path.resolve(import.meta.dirname, '../../test-results/stock-agent', agent.suite),
    });
    const actor = new Actor(this.api, id, machine);
    this.actors.add(actor);
    await machine.start();
    return actor;
  }

  /** Removes everything, even after an incomplete start. */
  async close(): Promise<void> {
    await Promise.all([...this.actors].map(({ machine }) => machine.remove()));
    await this.portal.remove();
  }
}

/** A VM in the portal, and its machine. */
export class Actor {
  readonly vmId: string;
  readonly machine: StockMachine;
  private readonly api: Api;
  private seen = 0;

  constructor(api: Api, vmId: string, machine: StockMachine) {
    this.api = api;
    this.vmId = vmId;
    this.machine = machine;
  }

  view(language = 'en'): Promise<InstanceView> {
    return this.api.instanceView(this.vmId, language);
  }

  /** Calls `look` with the current view of an extension until it does not throw. Returns that view. */
  async until(name: string, look: (extension: ExtensionView) => void, language = 'en'): Promise<ExtensionView> {
    return await vi.waitFor(async () => {
      const { extensions } = await this.view(language);
      const extension = extensions.find((one) => one.name === name);
      if (extension === undefined) throw new Error(`The VM has no extension ${name}.`);
      look(extension);
      return extension;
    }, patience);
  }

  async untilVm(look: (view: InstanceView) => void): Promise<void> {
    await vi.waitFor(async () => look(await this.view()), patience);
  }

  /** Calls `look` with the machine until it does not throw. */
  async untilMachine(look: (machine: StockMachine) => void): Promise<void> {
    await vi.waitFor(() => look(this.machine), patience);
  }

  /** Returns the calls of the probes since the last call of this function. */
  newCalls(): ProbeCall[] {
    const calls = probeCalls(this.machine).slice(this.seen);
    this.seen += calls.length;
    return calls;
  }

  newCallsInShort(): string {
    return inShort(this.newCalls());
  }
}
