'use client';

import Link from 'next/link';
import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { fieldAt, focusField } from '#app/_ui/schema-form/focus-field.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { footId } from './foot-place.ts';
import { type Faults, placeOf } from './use-faults.ts';
import type { DraftPlan } from './use-plan.ts';

export interface FootProps {
  faults: Faults;
  /** What applying the draft would do; null until that is known. */
  plan: DraftPlan | null;
  dirty: boolean;
  /**
   * Why the draft cannot be applied after a change by someone else: a comparison is open, the extension changed, or the
   * extension or VM was deleted. Null if no such change blocks the draft.
   */
  blockedBy: 'comparing' | 'overtaken' | 'extension' | 'vm' | null;
  busy: boolean;
  /** Whether the VM is on hold, which delays the change. */
  isHeld: boolean;
  vm: { id: string; name: string };
  onCompare(): void;
  onApply(): void;
  onEditJson(pointer: string): void;
}

/** Shows errors, what applying the draft would do, and the buttons to apply and discard it. */
export function Foot(props: FootProps) {
  const { faults, plan, dirty, blockedBy, busy, isHeld, vm, onApply } = props;
  const { t } = useTranslation('editor');
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => setPlace(document.getElementById(footId)), []);
  if (place === null) return null;

  const count = faults.all.length;
  const blocked = count > 0 || blockedBy !== null || plan?.planHash == null || !dirty;
  const goToFirst = () => {
    faults.insist();
    const place = placeOf(faults.all[0]?.path ?? '');
    const field = fieldAt(place);
    if (field === null) return place.startsWith('/') || place === '' ? props.onEditJson(place) : undefined;
    focusField(field);
  };
  return createPortal(
    <>
      {count > 0 ? (
        <button
          type="button"
          onClick={goToFirst}
          className={cn(
            'flex items-center gap-2 rounded-sm font-medium underline underline-offset-3',
            faults.onlyOpen ? 'text-ink-2' : 'text-failed-text',
          )}
        >
          {faults.onlyOpen ? null : <StatusIcon status="failed" />}
          {t(faults.onlyOpen ? 'foot.open' : 'foot.faults', { count })}
        </button>
      ) : null}
      {blockedBy === 'overtaken' && count === 0 ? (
        <button
          type="button"
          onClick={props.onCompare}
          className="rounded-sm font-medium text-warning-text underline underline-offset-3"
        >
          {t('live.compare')}
        </button>
      ) : null}
      <span className="min-w-0 text-ink-2 max-sm:hidden">
        {blockedBy !== null
          ? t(`foot.${blockedBy}`)
          : !dirty
            ? t('foot.unchanged')
            : plan === null || count > 0
              ? null
              : t(`foot.${sentenceOf(plan, isHeld)}`, { name: vm.name, version: plan.extensions[0]?.version ?? '' })}
      </span>
      <span className="ms-auto flex items-center gap-2">
        <Button asChild variant="ghost">
          <Link href={`/vms/${vm.id}`}>{t('foot.discard')}</Link>
        </Button>
        <Button
          variant="primary"
          aria-disabled={blocked || undefined}
          busy={busy}
          onClick={blocked ? undefined : onApply}
        >
          {t('foot.apply')}
        </Button>
      </span>
    </>,
    place,
  );
}

function sentenceOf(
  { steps, incarnation, warnings }: DraftPlan,
  isHeld: boolean,
): 'same' | 'later' | 'held' | 'install' | 'update' | 'disable' | 'enable' {
  if (incarnation.after === incarnation.before) return 'same';
  if (warnings.some(({ code }) => code === 'plan_machine_absent')) return 'later';
  if (isHeld) return 'held';
  const ran = steps.map(({ command }) => command);
  if (ran.includes('update') || ran.includes('uninstall')) return 'update';
  if (ran.includes('install')) return 'install';
  return ran.includes('disable') ? 'disable' : 'enable';
}
