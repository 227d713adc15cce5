'use client';

import Link from 'next/link';
import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { runbookHref } from '../../runbook-data.ts';
import { saveBarId } from './save-bar-place.ts';

export interface DraftBarProps {
  name: string;
  /** Whether the runbook exists, so that it can be shown. */
  exists: boolean;
  isSaved: boolean;
  /** The version that was saved last; null if none was. */
  savedVersion: string | null;
  faults: readonly ProblemFault[];
  /** Warnings about the plan, with paths in the plan. */
  warnings: readonly ProblemFault[];
  /** Why the draft was not saved. */
  problem: ExplainedProblem | undefined;
  busy: boolean;
  onGo(fault: ProblemFault): void;
  onSave(): void;
}

/** The bar below the editor: the first fault, whether the draft is saved, and the buttons that save and show it. */
export function SaveBar(props: DraftBarProps) {
  const { name, exists, isSaved, savedVersion, faults, warnings, problem, busy, onGo, onSave } = props;
  const { t } = useTranslation('runbooks');
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useEffect(() => setPlace(document.getElementById(saveBarId)), []);
  if (place === null) return null;
  const [fault, warning] = [faults[0], warnings[0]];
  return createPortal(
    <>
      {fault !== undefined ? (
        <Jump status="failed" onClick={() => onGo(fault)}>
          {t('edit.errors', { count: faults.length })}
        </Jump>
      ) : warning !== undefined ? (
        <Jump status="warning" onClick={() => onGo({ ...warning, path: `/plan${warning.path}` })}>
          {t('edit.warnings', { count: warnings.length })}
        </Jump>
      ) : null}
      {problem !== undefined && problem.faults.length === 0 ? (
        <div role="alert">
          <FieldError>{problem.message}</FieldError>
        </div>
      ) : null}
      <span role="status" className="min-w-0 text-12 text-ink-2">
        {isSaved ? t('edit.isSaved') : t(savedVersion === null ? 'edit.notSaved' : 'edit.unsaved')}
      </span>
      <span className="ms-auto flex flex-wrap items-center gap-2">
        {exists ? (
          <Button asChild>
            <Link href={runbookHref(name, savedVersion ?? undefined)}>{t('edit.show')}</Link>
          </Button>
        ) : null}
        <Button
          variant="primary"
          busy={busy}
          aria-disabled={isSaved || undefined}
          onClick={isSaved ? undefined : onSave}
        >
          {t('edit.save')}
        </Button>
      </span>
    </>,
    place,
  );
}

interface JumpProps {
  status: 'failed' | 'warning';
  onClick(): void;
  children: string;
}

/** The number of faults, as a button that goes to the first. */
function Jump({ status, onClick, children }: JumpProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className={cn(
        'flex items-center gap-2 rounded-sm font-medium underline underline-offset-3',
        status === 'failed' ? 'text-failed-text' : 'text-warning-text',
      )}
    >
      <StatusIcon status={status} />
      {children}
    </button>
  );
}
