'use client';

import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { localTime } from '#app/_lib/local-time.ts';
import { Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';

export interface SnoozeDialogProps {
  onChoose(until: Date): void;
  onClose(): void;
}

const dayMs = 24 * 3_600_000;

/** Asks for the time at which to end the snooze of a problem. */
export function SnoozeDialog({ onChoose, onClose }: SnoozeDialogProps) {
  const { t } = useTranslation('attention');
  const [at, setAt] = useState(() => localTime(new Date(Date.now() + dayMs)));
  const [isMissing, setIsMissing] = useState(false);
  const submit = () => {
    const until = new Date(at);
    if (Number.isNaN(until.getTime())) setIsMissing(true);
    else onChoose(until);
  };
  return (
    <FormDialog title={t('snooze.at.title')} act={t('snooze')} busy={false} onSubmit={submit} onClose={onClose}>
      <Field label={t('snooze.at.label')} error={isMissing ? t('snooze.at.missing') : undefined}>
        <Input
          type="datetime-local"
          value={at}
          onChange={(event) => {
            setAt(event.target.value);
            setIsMissing(false);
          }}
        />
      </Field>
    </FormDialog>
  );
}
