import { expect, vi } from 'vitest';
import type { FieldHandler, FieldStep } from '#samples/field/behaviours.ts';
import { fieldPackage } from '#samples/field/package.ts';
import type { Api, ExtensionView } from '../support/api.ts';
import type { Actor } from './stage.ts';

/** Publishes every version of a handler that its lifecycle needs. */
export async function publishField(api: Api, { handler, steps }: FieldHandler): Promise<void> {
  await api.ensurePublisher(handler.slice(0, handler.lastIndexOf('.')));
  const versions = new Set(steps.flatMap(({ goal }) => (goal === 'remove' ? [] : [goal.version])));
  const zip = await fieldPackage(handler);
  for (const version of versions) await api.publish(handler, version, zip);
}

/** Applies one step and waits until everything that the step expects is visible. */
export async function takeFieldStep(api: Api, vm: Actor, handler: string, step: FieldStep): Promise<void> {
  // Sequence numbers continue after an uninstall, so each handler has its own extension name.
  const { extension: name = handler.toLowerCase(), goal } = step;
  const seen = callsOf(vm, handler).length;
  let sequence = 0;
  if (goal === 'remove') {
    await api.call('DELETE', `/vms/${vm.vmId}/extensions/${name}`);
    await vm.untilVm(({ extensions }) => expect(extensions.map((each) => each.name)).not.toContain(name));
  } else {
    const { version, state = 'enabled', ...settings } = goal;
    const declared = { handler, version, state, settings: { publicSettings: {}, ...settings } };
    ({ sequenceNumber: sequence } = await api.setExtension(vm.vmId, name, declared));
    await vm.until(name, (extension) => expectStep(step, extension, sequence));
  }
  // A background process may write its line after its status.
  await vi.waitFor(() => expect(callsOf(vm, handler).slice(seen)).toEqual(step.calls), { timeout: 30_000 });
}

function expectStep(step: FieldStep, extension: ExtensionView, sequence: number): void {
  const { state, exitCode, status, heartbeat, substatus } = step;
  expect(extension.handlerState).toMatchObject({ state, sequenceNumber: sequence, ...(exitCode && { exitCode }) });
  if (status) {
    const message = { text: status.message };
    expect(extension.status).toMatchObject({ sequenceNumber: sequence, status: status.status, message });
  }
  if (heartbeat) expect(extension.heartbeat).toMatchObject({ verdict: heartbeat });
  if (substatus) expect(extension.status).toMatchObject({ substatus: [substatus] });
}

/** Returns the lines in the handler's log folder, oldest first. */
function callsOf(vm: Actor, handler: string): string[] {
  const lines = vm.machine.text(`/var/log/azure/${handler}/calls.log`).split('\n').filter(Boolean);
  return lines.map((line) => line.replace(/^\d+ /, ''));
}
