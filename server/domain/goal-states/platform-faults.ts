import { platformOf, platformsText, supportsPlatform } from '#protocol/platform.ts';
import type { Fault } from '#server/domain/error.ts';
import type { VersionRow } from '#server/domain/packages/index.ts';
import type { AgentMachine } from './declared-vm.ts';
import type { ExtensionRow } from './publish.ts';

/**
 * Returns a fault if the version does not support the platform of the VM's agent; no fault if the platform is unknown.
 * An extension that already has the version may still be disabled.
 */
export function platformFaults(
  agent: AgentMachine,
  version: VersionRow,
  state: ExtensionRow['state'],
  current: ExtensionRow | undefined,
): Fault[] {
  if (version.platforms === null) return [];
  if (state !== 'enabled' && current?.version === version.version) return [];
  if (!agent) return [];
  // The stock agent runs only on Linux, but reports the name of the distribution.
  const machine = { ...platformOf(agent.os), ...(agent.kind === 'stock' && { os: 'linux' as const }) };
  if (supportsPlatform(version.platforms, machine)) return [];
  const params = {
    handler: version.handler,
    version: version.version,
    supported: platformsText(version.platforms),
    machine: platformsText([machine]),
  };
  return [{ path: '/version', code: 'platform_unsupported', params }];
}
