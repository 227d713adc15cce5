import { SaxesParser } from 'saxes';
import type { CommandName } from '#protocol/index.ts';
import { receiveNextOutput } from '#server/domain/logs/index.ts';
import type { StockExtension, StockGoalState } from '#server/domain/stock-agents/index.ts';
import { currentOf, soon, type WireCall } from './wire-call.ts';

/** An event of the agent, with the parameters that the portal uses. */
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
/** The marker that precedes a command's output, whether the command succeeded or not. */
const output = '[stdout]';

/** Maximum bytes of a request, one and a half times what the agent sends. */
const maxBytes = 96 * 1_024;
/** Maximum number of outputs per request. */
const maxOutputs = 50;

/**
 * Stores the output of handlers' commands and ignores the rest, which is also in the agent's status. The agent sends
 * its requests one after the other, so concurrent requests from a VM are discarded.
 */
export async function takeTelemetry(wire: WireCall, body: Buffer): Promise<void> {
  const { guest } = wire;
  if (guest.isProcessing.telemetry || body.length > maxBytes || !body.includes(output)) return;
  guest.isProcessing.telemetry = true;
  const kept = keepOutputs(wire, body.toString()).finally(() => {
    guest.isProcessing.telemetry = false;
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

/**
 * Finds the extension by the name in an event: `<handler>` or, if the handler supports several extensions,
 * `<handler>.<extension>`.
 */
function extensionOf({ extensions }: StockGoalState, name: string): StockExtension | undefined {
  const isCalled = (called: string): boolean => called.toLowerCase() === name.toLowerCase();
  const own = extensions.find(({ goal, wireName }) => wireName !== null && isCalled(`${goal.handler}.${wireName}`));
  return own ?? extensions.find(({ goal }) => isCalled(goal.handler));
}

const beginning = /<Event id="\d{1,9}"><!\[CDATA\[/g;
const end = ']]></Event>';

/**
 * Yields the contents of the CDATA sections. Searches forward, because a regular expression would take quadratic time
 * if the end markers were missing.
 */
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

/** Returns the events of a request. Each event is XML in the CDATA section of an `Event` element. */
export function eventsOf(text: string): Event[] {
  const events: Event[] = [];
  for (const fragment of fragmentsOf(text)) {
    const found = new Map<string, string>();
    const parser = new SaxesParser({ fragment: true, xmlns: false });
    parser.on('opentag', ({ name, attributes: { Name, Value } }) => {
      if (name === 'Param' && Name !== undefined) found.set(Name, Value ?? '');
    });
    // Ignores syntax errors, because everything before an error is still used.
    parser.on('error', () => {});
    parser.write(fragment).close();
    const of = (name: string): string => found.get(name) ?? '';
    events.push({ name: of('Name'), operation: of('Operation'), message: of('Message') });
  }
  return events;
}
