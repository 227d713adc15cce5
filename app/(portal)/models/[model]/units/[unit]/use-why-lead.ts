'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownUnitDetails } from '../unit-data.ts';
import type { UnitWhy } from '../why-unit.ts';

interface Lead {
  title: string;
  /** What follows from it, or what to do. */
  detail: string | null;
}

/** Returns a function that says why a unit is not done, and what follows. */
export function useWhyLead(): (about: { unit: ShownUnitDetails; why: UnitWhy }) => Lead {
  const { t } = useTranslation('services');
  const format = useFormat();
  const missingDetail = ({ missingRelation }: ShownUnitDetails, name: string) =>
    missingRelation === null || missingRelation.offeredBy.length === 0
      ? t('unit.why.relation.detail', { name })
      : t('unit.why.relation.offered', { ...missingRelation, services: format.list(missingRelation.offeredBy) });
  return ({ unit, why }) => {
    const own = { unit: unit.unit, vm: unit.vm };
    switch (why.kind) {
      case 'enroll':
      case 'unheard':
      case 'noUnits':
        return { title: t(`unit.why.${why.kind}`, own), detail: t(`unit.why.${why.kind}.detail`, own) };
      case 'silent':
        return { title: t('unit.why.silent', own), detail: t('unit.why.silent.detail') };
      case 'failing': {
        const { hook, remoteUnit, failures } = why.failure;
        const of = { hook, remote: remoteUnit ?? '', count: failures };
        const title = t(remoteUnit === null ? 'unit.why.failing' : 'unit.why.failing.for', of);
        return { title, detail: null };
      }
      case 'running': {
        const { hook, remoteUnit } = why.run;
        const of = { hook, remote: remoteUnit ?? '' };
        return { title: t(remoteUnit === null ? 'unit.why.running' : 'unit.why.running.for', of), detail: null };
      }
      case 'late':
        return {
          title: t('unit.why.late', { hook: unit.hook ?? why.due?.hook ?? '' }),
          detail: t('unit.why.late.detail'),
        };
      case 'waiting':
        return { title: t('unit.why.waiting', { hook: why.due?.hook ?? '' }), detail: t('unit.why.waiting.detail') };
      case 'release': {
        const by = unit.enrolledBy ?? t('unit.why.release.unknown');
        return { title: t('unit.why.release'), detail: t('unit.why.release.detail', { ...own, by }) };
      }
      case 'skipped':
        return {
          title: t('unit.why.skipped', { hook: why.mark.hook, by: why.mark.by }),
          detail: t('unit.why.skipped.detail', { hook: why.mark.hook }),
        };
      default:
        return {
          title: t('unit.why.relation', { name: why.name }),
          detail: missingDetail(unit, why.name),
        };
    }
  };
}
