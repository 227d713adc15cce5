'use client';

import { useState } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { ConfirmDialog } from '#app/_ui/confirm-dialog.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Textarea } from '#app/_ui/input.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ShownRollout } from '../rollout-data.ts';
import { haltsOf, type ShownAct } from './shown-acts.ts';
import { useActWords } from './use-act-words.ts';
import { useVerdictWords } from './use-verdict-words.ts';

/** Acts that require a reason, and acts for which a reason is optional. */
const needsText: readonly ShownAct['name'][] = ['reject', 'rejectRing', 'advance'];
const takesText: readonly ShownAct['name'][] = [
  ...needsText,
  'approve',
  'approveRing',
  'pause',
  'resume',
  'abort',
  'close',
  'unschedule',
];
const mild: readonly ShownAct['name'][] = [
  'start',
  'approve',
  'approveRing',
  'pause',
  'retryFailed',
  'retryUnreached',
  'retrySkipped',
];

export interface ActDialogProps {
  rollout: ShownRollout;
  act: ShownAct & { name: Exclude<ShownAct['name'], 'plan'> };
  onAct(text: string): Promise<void>;
  onClose(): void;
}

/** Asks for confirmation of an act, and for its reason. */
export function ActDialog({ rollout, act, onAct, onClose }: ActDialogProps) {
  const { t } = useTranslation('rollouts');
  const explain = useProblem();
  const label = useActWords(rollout);
  const [text, setText] = useState('');
  const [wasTried, setTried] = useState(false);
  const [problem, setProblem] = useState<string>();
  const overrules = act.name === 'resume' && haltsOf(rollout).length > 0;
  const isNeeded = needsText.includes(act.name) || overrules;
  const names = {
    name: rollout.name,
    ring: rollout.rings[act.ring ?? 0]?.name ?? '',
    plan: rollout.plan?.hash.slice(0, 8) ?? '',
  };
  const confirm = async () => {
    const given = text.trim();
    setTried(true);
    if (isNeeded && given === '') {
      throw new Error('A reason is needed.');
    }
    try {
      await onAct(given);
    } catch (error) {
      setProblem(explain(error).message);
      throw error;
    }
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={<Trans text={t(`act.${act.name}.title`, names)} tags={{}} />}
      description={t(`act.${act.name}.what`, names)}
      confirmLabel={label(act)}
      cancelLabel={t('act.cancel')}
      tone={mild.includes(act.name) ? 'default' : 'danger'}
      onConfirm={confirm}
      error={problem}
    >
      {overrules ? <Overruled rollout={rollout} /> : null}
      {takesText.includes(act.name) ? (
        <Field
          label={t(act.name.startsWith('approve') ? 'act.note' : 'act.reason')}
          note={isNeeded ? undefined : t('act.optional')}
          error={wasTried && isNeeded && text.trim() === '' ? t('act.reasonNeeded') : undefined}
        >
          <Textarea value={text} rows={2} maxLength={500} onChange={(event) => setText(event.target.value)} />
        </Field>
      ) : null}
    </ConfirmDialog>
  );
}

/** The verdicts that a resume overrules, by name. */
function Overruled({ rollout }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const says = useVerdictWords();
  return (
    <div className="grid gap-1.5 rounded-md bg-sunken px-3 py-2.5">
      <h3 className="text-12 font-medium">{t('act.overrule')}</h3>
      <ul className="grid gap-1">
        {rollout.rings.flatMap(({ name, verdicts }) =>
          verdicts
            .filter(({ verdict }) => verdict === 'halt')
            .map((verdict) => (
              <li key={`${name} ${verdict.gate}`} className="flex gap-1.5 text-12">
                <StatusIcon status="failed" className="mt-0.5" />
                {t('act.overruleOne', { gate: t(`gate.${verdict.gate}`), ring: name, says: says(verdict) })}
              </li>
            )),
        )}
      </ul>
      <p className="text-12 text-ink-3">{t('act.resume.overrules')}</p>
    </div>
  );
}
