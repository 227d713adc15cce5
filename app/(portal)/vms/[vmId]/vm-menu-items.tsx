import {
  Cable,
  KeyRound,
  type LucideIcon,
  Pause,
  PencilLine,
  Play,
  RotateCcwKey,
  Trash2,
  Undo2,
  Unplug,
  Waypoints,
} from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { MenuItem, MenuSeparator } from '#app/_ui/dropdown-menu.tsx';
import { modelHref } from '#app/(portal)/models/model-data.ts';
import type { VmFacts } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

export interface VmMenuItemsProps {
  agentKind: VmFacts['agentKind'];
  isHeld: boolean;
  isDecommissioning: boolean;
  /** The role of the VM in its model, which removes it; null if it belongs to none. */
  role: VmFacts['role'];
  onAct(act: VmAct): void;
}

type MenuAct = Exclude<VmAct['kind'], 'release' | 'revert' | 'why-version' | 'retry' | 'remove'>;
type Entry = [kind: MenuAct, Icon: LucideIcon, label: string];

const agentEntries: Record<'none' | 'reference' | 'stock', Entry[]> = {
  none: [
    ['token', KeyRound, 'enrollment:token'],
    ['stock', Cable, 'enrollment:stock'],
  ],
  reference: [['token', KeyRound, 'enrollment:token']],
  stock: [
    ['stock', KeyRound, 'enrollment:stock.token'],
    ['stock-key', RotateCcwKey, 'enrollment:stock.key'],
    ['stock-end', Unplug, 'enrollment:stock.end'],
  ],
};

const holdEntries = (isHeld: boolean): Entry[] =>
  isHeld
    ? [
        ['hold', Pause, 'enrollment:hold.change'],
        ['release-hold', Play, 'enrollment:hold.release'],
      ]
    : [['hold', Pause, 'enrollment:hold']];

function modelEntries({ role, agentKind, isDecommissioning }: VmMenuItemsProps): Entry[] {
  if (role !== null) {
    return role.adopted && role.state !== 'deleting' ? [['give-back', Undo2, 'vms:vm.giveBack']] : [];
  }
  const canAdopt = agentKind === 'reference' && !isDecommissioning;
  return [...(canAdopt ? ([['adopt', Waypoints, 'vms:vm.adopt']] satisfies Entry[]) : []), deleteEntry];
}

const deleteEntry: Entry = ['delete', Trash2, 'enrollment:delete'];

/** The items of the menu of actions on a VM. */
export function VmMenuItems(props: VmMenuItemsProps) {
  const { agentKind, isHeld, role, onAct } = props;
  const { t } = useTranslation(['vms', 'enrollment']);
  const itemOf = ([kind, Icon, label]: Entry) => (
    <MenuItem key={kind} danger={kind === 'delete'} onSelect={() => onAct({ kind })}>
      <Icon aria-hidden />
      {t(label)}
    </MenuItem>
  );
  return (
    <>
      {itemOf(['edit', PencilLine, 'enrollment:edit'])}
      {agentEntries[agentKind ?? 'none'].map(itemOf)}
      {holdEntries(isHeld).map(itemOf)}
      <MenuSeparator />
      {modelEntries(props).map(itemOf)}
      {role === null ? null : (
        <MenuItem asChild>
          <Link href={modelHref(role.model)}>
            <Waypoints aria-hidden />
            {t('vms:vm.openModel')}
          </Link>
        </MenuItem>
      )}
    </>
  );
}
