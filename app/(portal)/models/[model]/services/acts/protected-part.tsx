'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { type ExplainedProblem, faultAt } from '#app/_lib/problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { SealedField } from '#app/_ui/sealed-field.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { ProtectedDraft } from '#app/(portal)/vms/[vmId]/extensions/_editor/draft.ts';
import type { ProtectedForm } from '#app/(portal)/vms/[vmId]/extensions/_editor/protected-form.tsx';
import {
  emptyReplacement,
  ProtectedSettings,
} from '#app/(portal)/vms/[vmId]/extensions/_editor/protected-settings.tsx';

/** When and by whom the settings of a service were last changed. */
export interface StoredProtected {
  changedAt: string;
  changedBy: string;
}

export interface ProtectedPartProps {
  form: ProtectedForm;
  stored: StoredProtected | null;
  value: ProtectedDraft;
  onChange(value: ProtectedDraft): void;
  problem: ExplainedProblem | undefined;
}

/** The protected settings of a service, which are replaced as a whole. Absent if the formula has none. */
export function ProtectedPart({ form, stored, value, onChange, problem }: ProtectedPartProps) {
  const { t } = useTranslation(['editor', 'common']);
  if (form.kind === 'none' && stored === null) return null;
  const at = (name: string) => faultAt(problem, `/protectedSettings${name === '' ? '' : `/${name}`}`);
  return (
    <section aria-label={t('editor:protected')} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h3 className="text-13 font-semibold">{t('editor:protected')}</h3>
        <span className="text-12 text-ink-3">{t('editor:protected.note')}</span>
        {stored !== null && value.mode === 'replace' ? (
          <Button size="sm" variant="ghost" className="ms-auto" onClick={() => onChange({ mode: 'keep' })}>
            {t('editor:protected.keepOld')}
          </Button>
        ) : null}
      </div>
      {stored !== null && value.mode === 'keep' ? (
        <Sealed form={form} stored={stored} onChange={onChange} />
      ) : (
        <>
          {stored !== null && value.mode === 'replace' ? (
            <p className="text-12 text-ink-2">{t('editor:protected.whole')}</p>
          ) : null}
          <ProtectedSettings
            form={form}
            present={null}
            value={value}
            onChange={onChange}
            mustReplace={undefined}
            faultAt={at}
          />
        </>
      )}
    </section>
  );
}

function Sealed({
  form,
  stored,
  onChange,
}: Pick<ProtectedPartProps, 'form' | 'onChange'> & { stored: StoredProtected }) {
  const { t } = useTranslation(['editor', 'common']);
  return (
    <SealedField
      changed={
        <span>
          <Trans
            text={t('editor:protected.changed', { name: stored.changedBy })}
            tags={{ when: <RelativeTime value={new Date(stored.changedAt)} /> }}
          />
        </span>
      }
      actions={
        <span className="flex gap-2">
          {form.kind === 'none' ? null : (
            <Button size="sm" onClick={() => onChange(emptyReplacement)}>
              {t('common:replace')}
            </Button>
          )}
          <Button size="sm" onClick={() => onChange({ mode: 'remove' })}>
            {t('editor:protected.remove')}
          </Button>
        </span>
      }
    />
  );
}
