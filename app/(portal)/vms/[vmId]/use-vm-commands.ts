'use client';

import { useQueryClient } from '@tanstack/react-query';
import { NotebookText, Pause, PencilLine, Play, RotateCw, SquareTerminal, Undo2 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type PageCommand, usePageCommands } from '#app/_lib/page-commands.ts';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { runHref } from '#app/(portal)/runbooks/runbook-data.ts';
import { needsRetry } from './retry/retryable.ts';
import type { Retry } from './retry/use-retry.ts';
import { type Extension, editHref, type InstanceDetails, tabHref } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

/** Lists the actions on this VM in the command palette; actions on extensions with a problem come first. */
export function useVmCommands(view: InstanceDetails, retry: Retry, onAct: (act: VmAct) => void): void {
  const { t } = useTranslation(['reports', 'enrollment']);
  const reader = useReader();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const retried = (extension: Extension): PageCommand => ({
    id: `retry ${extension.name}`,
    label: t('reports:retry.of', { name: extension.name }),
    icon: RotateCw,
    run: () => retry.start(extension),
  });
  const edited = (extension: Extension): PageCommand => ({
    id: `edit ${extension.name}`,
    label: t('reports:why.edit', { name: extension.name }),
    icon: PencilLine,
    href: editHref(view.vmId, extension.name),
  });
  const output = (extension: Extension): PageCommand => ({
    id: `output ${extension.name}`,
    label: t('reports:palette.output', { name: extension.name }),
    icon: SquareTerminal,
    href: tabHref(view.vmId, 'output', extension.name),
  });
  const act = view.explanation?.act;
  const target = trpc.goalStates.revertTarget.queryOptions({ vmId: view.vmId, name: act?.extension ?? '' });
  const revert = act?.failed ? (queries.getQueryData(target.queryKey)?.incarnation ?? null) : null;
  const holds: PageCommand[] =
    view.agent.hold === null
      ? [{ id: 'hold', label: t('enrollment:hold'), icon: Pause, run: () => onAct({ kind: 'hold' }) }]
      : [
          {
            id: 'release-hold',
            label: t('enrollment:hold.release'),
            icon: Play,
            run: () => onAct({ kind: 'release-hold' }),
          },
          { id: 'hold', label: t('enrollment:hold.change'), icon: Pause, run: () => onAct({ kind: 'hold' }) },
        ];
  const open = view.extensions.filter(({ goal }) => goal !== 'uninstall');
  const ordered = [...open.filter(needsRetry), ...open.filter((extension) => !needsRetry(extension))];
  const commands: PageCommand[] = [
    ...ordered.map(retried),
    ...(revert === null
      ? []
      : [
          {
            id: 'revert',
            label: t('reports:why.revert', { incarnation: revert }),
            icon: Undo2,
            run: () => onAct({ kind: 'revert', incarnation: revert }),
          },
        ]),
    ...ordered.map(edited),
    ...view.extensions.filter(({ handlerState }) => handlerState?.outputTail).map(output),
    { id: 'runbook', label: t('reports:palette.runRunbook'), icon: NotebookText, href: runHref(view.vmId) },
    ...holds,
  ];
  usePageCommands({ heading: view.name, commands: reader.can('operator') ? commands : [] });
}
