import { CopyCommand } from '#app/_ui/copy.tsx';
import type { InstanceDetails } from './vm-data.ts';

const commands = {
  reference: ['systemctl status annex-agent', 'annex-agent doctor --dir /var/lib/annex-agent'],
  stock: ['systemctl status walinuxagent', 'systemctl status annex-wire'],
};

/** Commands to run on the machine, to find out why its agent does not call the portal. */
export function AgentChecks({ kind }: { kind: InstanceDetails['agent']['kind'] }) {
  return (
    <div className="my-1 grid max-w-[560px] grid-cols-[minmax(0,1fr)] gap-1">
      {commands[kind ?? 'reference'].map((command) => (
        <CopyCommand key={command} whole command={command} />
      ))}
    </div>
  );
}
