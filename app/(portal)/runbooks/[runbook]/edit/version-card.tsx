'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Input, Textarea } from '#app/_ui/input.tsx';
import { TermFields } from '#app/(portal)/vms/[vmId]/executions/new/term-fields.tsx';
import type { RunbookDraft } from './use-runbook-draft.ts';

export interface VersionCardProps {
  draft: RunbookDraft;
  /** All faults of the draft. */
  faults: readonly ProblemFault[];
  onChange(part: Partial<RunbookDraft>): void;
  className?: string;
}

/** The title, description, version and times of the draft. */
export function VersionCard({ draft, faults, onChange, className }: VersionCardProps) {
  const { t } = useTranslation(['runbooks', 'common']);
  const faultAt = (place: string) => faults.find(({ path }) => path === place)?.message;
  return (
    <Card className={className}>
      <CardHeader title={t('runbooks:edit.version')} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <Field label={t('runbooks:edit.name')} note={t('common:required')} error={faultAt('/title')}>
          <Input
            data-at="/title"
            required
            maxLength={100}
            value={draft.title}
            onChange={(event) => onChange({ title: event.target.value })}
          />
        </Field>
        <Field label={t('runbooks:edit.description')} note={t('common:optional')} error={faultAt('/description')}>
          <Textarea
            data-at="/description"
            rows={2}
            maxLength={4000}
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <Field
          label={t('runbooks:run.version')}
          note={t('common:required')}
          hint={t('runbooks:edit.version.hint')}
          error={faultAt('/version')}
        >
          <Input
            data-at="/version"
            required
            mono
            maxLength={64}
            value={draft.version}
            onChange={(event) => onChange({ version: event.target.value })}
          />
        </Field>
        <div data-at="/timeoutSeconds" className="contents">
          <TermFields withNote={false} terms={draft.terms} onChange={(terms) => onChange({ terms })} />
        </div>
      </CardBody>
    </Card>
  );
}
