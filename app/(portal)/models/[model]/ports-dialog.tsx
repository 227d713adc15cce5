'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { forgetError } from '#app/_lib/forget-error.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { ControlRow, Field } from '#app/_ui/field.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { FormDialog } from '#app/(portal)/settings/form-dialog.tsx';
import { portProtocols } from '#server/domain/topology-rules/words.ts';
import type { ShownRole } from '../model-data.ts';

export interface PortsDialogProps {
  role: ShownRole;
  onClose(): void;
}

interface Values {
  protocol: (typeof portProtocols)[number];
  port: string;
  localPort: string;
  isShared: boolean;
}

const noValues: Values = { protocol: 'tcp', port: '', localPort: '', isShared: true };

/** Opens a port of a role. */
export function PortsDialog({ role, onClose }: PortsDialogProps) {
  const { t } = useTranslation('models');
  const trpc = useTRPC();
  const queries = useQueryClient();
  const explain = useProblem();
  const [values, setValues] = useState(noValues);
  const open = useMutation(
    trpc.topology.setEndpoint.mutationOptions({
      onSuccess: onClose,
      onSettled: () => queries.invalidateQueries(trpc.models.pathFilter()),
    }),
  );
  const change = (changed: Partial<Values>) => setValues({ ...values, ...changed });
  const submit = () => {
    const { protocol, port, localPort, isShared: set } = values;
    const local = localPort === '' ? {} : { localPort: Number(localPort) };
    open.mutate({ instance: role.id, protocol, port: Number(port), set, ...local });
  };
  return (
    <FormDialog
      title={t('ports.title', { name: role.vm })}
      description={t('ports.why')}
      act={t('ports.act')}
      busy={open.isPending}
      onEdit={() => forgetError(open)}
      onSubmit={submit}
      onClose={onClose}
      error={open.error === null ? undefined : explain(open.error).message}
    >
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,2fr)_minmax(0,2fr)] gap-3 max-sm:grid-cols-[minmax(0,1fr)]">
        <Field label={t('ports.protocol')}>
          <Select
            value={values.protocol}
            onChange={(event) => change({ protocol: event.target.value === 'udp' ? 'udp' : 'tcp' })}
            options={portProtocols.map((value) => ({ value, label: value.toUpperCase() }))}
          />
        </Field>
        <PortField label={t('ports.port')} value={values.port} isRequired onChange={(port) => change({ port })} />
        <PortField
          label={t('ports.local')}
          value={values.localPort}
          placeholder={values.port}
          onChange={(localPort) => change({ localPort })}
        />
      </div>
      <ControlRow
        control={<Checkbox checked={values.isShared} onCheckedChange={(is) => change({ isShared: is === true })} />}
        hint={t('ports.shared.why')}
      >
        {t('ports.shared')}
      </ControlRow>
    </FormDialog>
  );
}

interface PortFieldProps {
  label: string;
  value: string;
  placeholder?: string;
  isRequired?: boolean;
  onChange(value: string): void;
}

function PortField({ label, value, placeholder, isRequired = false, onChange }: PortFieldProps) {
  return (
    <Field label={label}>
      <Input
        autoFocus={isRequired}
        type="number"
        min={1}
        max={65_535}
        step={1}
        required={isRequired}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}
