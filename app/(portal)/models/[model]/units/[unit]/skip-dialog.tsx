'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArrowRight, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { DueLine } from '../due-lines.ts';
import { skipEffects } from '../skip-effects.ts';
import type { NamedUnit, ShownFailure } from '../unit-data.ts';

export interface SkipDialogProps {
  name: NamedUnit;
  failure: ShownFailure;
  lines: readonly DueLine[];
  onClose(): void;
}

/** Skips a hook that fails. Says what that means for this hook. */
export function SkipDialog({ name: { model, unit }, failure, lines, onClose }: SkipDialogProps) {
  const { t } = useTranslation('services');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const skip = useMutation(
    trpc.units.resolve.mutationOptions({ onSettled: () => queries.invalidateQueries(trpc.units.pathFilter()) }),
  );
  const { hook, remoteUnit, run } = failure;
  const { counts, next, again } = skipEffects(failure, lines);
  const of = { hook, unit, remote: remoteUnit ?? '' };
  return (
    <ConfirmDialog
      open
      tone="default"
      onOpenChange={onClose}
      title={t(remoteUnit === null ? 'unit.skip.title' : 'unit.skip.title.for', of)}
      description={t(`unit.skip.counts.${counts}`, of)}
      confirmLabel={t('unit.skip.confirm')}
      cancelLabel={t('unit.skip.cancel')}
      onConfirm={() => skip.mutateAsync({ model, unit, run, retry: false })}
      error={skip.error === null ? undefined : explain(skip.error).message}
    >
      <ul className="grid gap-1.5 rounded-md bg-sunken px-3 py-2.5 text-12 shadow-hair-subtle">
        <Effect icon={<ArrowRight aria-hidden className="size-3.5 text-ink-2 rtl:-scale-x-100" />}>
          {next === null
            ? t('unit.skip.nothingNext')
            : t(next.remoteUnit === null ? 'unit.skip.next' : 'unit.skip.next.for', {
                ...{ unit, hook: next.hook, remote: next.remoteUnit ?? '' },
              })}
        </Effect>
        <Effect icon={<StatusIcon status="warning" />}>{t('unit.skip.degraded', of)}</Effect>
        <Effect icon={<RotateCw aria-hidden className="size-3.5 text-ink-2" />}>
          {t(`unit.skip.again.${again}`, of)}
        </Effect>
      </ul>
    </ConfirmDialog>
  );
}

function Effect({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <li className="flex gap-2 wrap-anywhere [&>svg]:mt-0.5 [&>svg]:shrink-0">
      {icon}
      <span className="min-w-0 text-pretty">{children}</span>
    </li>
  );
}
