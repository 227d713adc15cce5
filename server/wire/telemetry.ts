import { SaxesParser } from 'saxes';
import type { CommandName } from '#protocol/index.ts';
import { receiveNextOutput } from '#server/domain/logs/index.ts';
import type { StockExtension, StockGoalState } from '#server/domain/stock-agents/index.ts';
import { currentOf, soon, type WireCall } from './wire-call.ts';

/** An event of the agent, by what it is about; of its parameters those that are of use. */
interface Event {
  name: string;
  operation: string;
  message: string;
}

const commands: Readonly<Record<string, CommandName>> = {
  Install: 'install',
  Enable: 'enable',
  Update: 'update',
  Disable: 'disable',
  UnInstall: 'uninstall',
};
/** A command's output follows these words, whether it succeeded or not. */
const output = '[stdout]';

/** One and a half times the most that the agent sends in one call. */
const maxBytes = 96 * 1_024;
/** Outputs of one post that are kept. */
const maxOutputs = 50;

/**
 * Keeps what handlers' commands wrote; all else that the agent tells of itself comes with its status. One post of a VM
 * after the other: the agent waits for each, and who does not is not heard meanwhile.
 */
export async function takeTelemetry(wire: WireCall, body: Buffer): Promise<void> {
  const { guest } = wire;
  if (guest.isTelling.telemetry || body.length > maxBytes || !body.includes(output)) return;
  guest.isTelling.telemetry = true;
  const kept = keepOutputs(wire, body.toString()).finally(() => {
    guest.isTelling.telemetry = false;
  });
  await soon(wire, 'telemetry', kept);
}

async function keepOutputs(wire: WireCall, text: string): Promise<void> {
  const goalState = await currentOf(wire);
  let kept = 0;
  for (const { name, operation, message } of eventsOf(text)) {
    const command = Object.hasOwn(commands, operation) ? commands[operation] : undefined;
    const extension = extensionOf(goalState, name);
    if (command === undefined || extension === undefined || !message.includes(output)) continue;
    if (++kept > maxOutputs) return;
    const { name: ofVm, sequenceNumber: sequence } = extension.goal;
    await receiveNextOutput(
      wire.ctx,
      { vmId: wire.guest.vmId, extension: ofVm, command, sequence },
      Buffer.from(message),
    );
  }
}

/** The agent says the handler, and of several extensions the handler and its name. */
function extensionOf({ extensions }: StockGoalState, name: string): StockExtension | undefined {
  const isCalled = (called: string): boolean => called.toLowerCase() === name.toLowerCase();
  const own = extensions.find(({ goal, wireName }) => wireName !== null && isCalled(`${goal.handler}.${wireName}`));
  return own ?? extensions.find(({ goal }) => isCalled(goal.handler));
}

const beginning = /<Event id="\d{1,9}"><!\[CDATA\[/g;
const end = ']]></Event>';

/** The texts of events; step by step, for an expression would look for an end that is missing from every beginning. */
function* fragmentsOf(text: string): Generator<string> {
  for (let at = 0; ; ) {
    beginning.lastIndex = at;
    const begins = beginning.exec(text);
    const ends = begins === null ? -1 : text.indexOf(end, beginning.lastIndex);
    if (ends < 0) return;
    yield text.slice(beginning.lastIndex, ends);
    at = ends + end.length;
  }
}

/** The events of a post, as far as they can be read: each is a text of elements within a text. */
export function eventsOf(text: string): Event[] {
  const events: Event[] = [];
  for (const fragment of fragmentsOf(text)) {
    const found = new Map<string, string>();
    const parser = new SaxesParser({ fragment: true, xmlns: false });
    parser.on('opentag', ({ name, attributes: { Name, Value } }) => {
      if (name === 'Param' && Name !== undefined) found.set(Name, Value ?? '');
    });
    // What was read before the error counts.
    parser.on('error', () => {});
    parser.write(fragment).close();
    const of = (name: string): string => found.get(name) ?? '';
    events.push({ name: of('Name'), operation: of('Operation'), message: of('Message') });
  }
  return events;
}
