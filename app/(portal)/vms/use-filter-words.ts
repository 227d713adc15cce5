'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ListedField } from '#server/domain/fleet/index.ts';

/** The parts of a filter chip. */
export interface FilterWords {
  field: string;
  relation: string;
  value: string;
}

/** Words between a field and its value, for fields whose condition is not equality. */
const relations: Readonly<Partial<Record<string, 'filter.older' | 'filter.isNot' | 'filter.otherThan'>>> = {
  olderThan: 'filter.older',
  notHandler: 'filter.isNot',
  otherHandler: 'filter.otherThan',
};

/** Fields whose values are health values. */
const healthFields = ['health', 'state', 'unitState', 'became', 'left'];

/** Returns a function that looks up the display text of a field's value. */
export function useValueWords(): (field: string, value: string) => string {
  const { t } = useTranslation(['vms', 'reports']);
  return (field, value) => {
    if (field === 'otherHandler') return value.replaceAll(',', ', ');
    if (healthFields.includes(field)) return t(`reports:health.${value as 'failed'}`);
    if (field === 'cause' || field === 'unitCause') return t(`vms:cause.${value as 'exit'}`);
    if (field === 'held') return t(`vms:filter.held.${value as 'yes'}`);
    if (field === 'worst') return t(`vms:filter.worst.${value as 'yes'}`);
    if (field === 'updateAvailable') return t(`vms:filter.updateAvailable.${value as 'yes'}`);
    if (field === 'agentOutdated') return t(`vms:filter.agentOutdated.${value as 'yes'}`);
    if (field === 'silence') return t(`vms:filter.silence.${value as 'alone'}`);
    if (field === 'hasCommand') return t(`vms:filter.hasCommand.${value as 'yes'}`);
    if (field === 'overdue') return t(`vms:filter.overdue.${value as 'yes'}`);
    return field === 'hasMessage' ? t(`vms:filter.hasMessage.${value as 'yes'}`) : value;
  };
}

/** Returns a function that describes a field with its value, for every field except tags. */
export function useFilterWords(): (field: ListedField, value: unknown) => FilterWords {
  const { t } = useTranslation('vms');
  const format = useFormat();
  const words = useValueWords();
  return ({ name, label, value: { kind } }, value) => {
    const field = t(label);
    const values = [value].flat().map(String);
    if (kind === 'time') {
      const relation = t(name.endsWith('Before') ? 'filter.before' : 'filter.from');
      return { field, relation, value: format.dateTime(new Date(String(value)), 'short') };
    }
    if (name === 'silentMinutes') {
      const minutes = format.number(Number(value), { style: 'unit', unit: 'minute', unitDisplay: 'short' });
      return { field, relation: t('filter.over'), value: minutes };
    }
    const relation = t(relations[name] ?? (values.length > 1 ? 'filter.isOneOf' : 'filter.is'));
    return { field, relation, value: values.map((one) => words(name, one)).join(', ') };
  };
}
