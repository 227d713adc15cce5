'use client';

import { Ellipsis } from 'lucide-react';
import dynamic from 'next/dynamic';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { useReader } from '#app/_shell/reader.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { hasEnded, type ShownRollout } from '../rollout-data.ts';
import { actsOf, type ShownAct } from './shown-acts.ts';
import { useAct } from './use-act.ts';
import { useActWords } from './use-act-words.ts';

const ActDialog = dynamic(() => import('./act-dialog.tsx').then((module) => module.ActDialog), { ssr: false });

const dangerous: readonly ShownAct['name'][] = ['abort', 'reject', 'rejectRing', 'delete'];

export interface ActButtonsProps {
  rollout: ShownRollout;
  /** Shows the failed VMs in the table below. */
  onShowFailed(): void;
}

/** The acts on a rollout, the likeliest first. A viewer only sees the failed VMs. */
export function ActButtons({ rollout, onShowFailed }: ActButtonsProps) {
  const { t } = useTranslation('rollouts');
  const reader = useReader();
  const format = useFormat();
  const explain = useProblem();
  const label = useActWords(rollout);
  const perform = useAct(rollout);
  const [act, setAct] = useState<ShownAct | null>(null);
  const acts = reader.can('operator') ? actsOf(rollout) : { first: [], more: [] };
  const { failed } = rollout.counts;
  const begin = (chosen: ShownAct) => {
    if (chosen.name !== 'plan') return setAct(chosen);
    perform(chosen, '').catch((error: unknown) => toast(explain(error).message));
  };
  const isFirst = (index: number) => index === 0 && failed === 0;
  return (
    <>
      {failed === 0 ? null : (
        <Button variant="primary" onClick={onShowFailed}>
          {t('act.showFailed', { count: failed, n: format.number(failed) })}
        </Button>
      )}
      {acts.first.map((each, index) => (
        <Button key={`${each.name} ${each.ring}`} variant={lookOf(each, isFirst(index))} onClick={() => begin(each)}>
          {label(each)}
        </Button>
      ))}
      {acts.more.length === 0 ? null : (
        <LazyMenu
          align="start"
          trigger={
            <IconButton label={t('act.more')} variant="default">
              <Ellipsis aria-hidden />
            </IconButton>
          }
        >
          {({ MenuItem }) =>
            acts.more.map((each) => (
              <MenuItem key={`${each.name} ${each.ring}`} onSelect={() => begin(each)}>
                {label(each)}
              </MenuItem>
            ))
          }
        </LazyMenu>
      )}
      {act === null || act.name === 'plan' ? null : (
        <ActDialog
          rollout={rollout}
          act={act as never}
          onAct={(text) => perform(act, text)}
          onClose={() => setAct(null)}
        />
      )}
    </>
  );
}

const lookOf = ({ name }: ShownAct, isFirst: boolean) =>
  dangerous.includes(name) ? 'danger' : isFirst ? 'primary' : 'default';

/** Links that create another rollout from this one, or edit it. */
export function FormLinks({ rollout }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const reader = useReader();
  if (!reader.can('operator')) return null;
  const isFixed = hasEnded(rollout) || rollout.state === 'aborting' || rollout.state === 'checking';
  return (
    <>
      {isFixed || rollout.change.kind === 'revert' ? null : (
        <Button asChild>
          <Link href={`/rollouts/${rollout.id}/edit`}>{t('act.edit')}</Link>
        </Button>
      )}
      {rollout.change.kind === 'revert' ? null : (
        <Button asChild>
          <Link href={`/rollouts/new?from=${rollout.id}`}>{t('act.duplicate')}</Link>
        </Button>
      )}
    </>
  );
}
