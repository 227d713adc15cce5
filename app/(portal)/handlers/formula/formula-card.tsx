'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import type { FormulaManifest } from '#protocol/formula.ts';
import { hookSeconds, relationSides } from '#protocol/formula-words.ts';
import { type FormulaOption, optionsOf } from './options.ts';

export interface FormulaCardProps {
  manifest: FormulaManifest;
  schema: { publicSettings?: unknown } | null;
}

/** A formula: its relations, its hooks with their time limits, and its options. */
export function FormulaCard({ manifest, schema }: FormulaCardProps) {
  const { t } = useTranslation('packages');
  return (
    <Card id="formula">
      <CardHeader title={t('formula.title')} note={<span translate="no">{manifest.name}</span>} />
      <CardBody className="grid gap-4">
        {manifest.summary === '' ? null : (
          <p lang="" translate="no" className="wrap-anywhere">
            {manifest.summary}
          </p>
        )}
        <Section title={t('formula.relations')}>
          <Relations manifest={manifest} />
        </Section>
        <Section title={t('formula.hooks')}>
          <Hooks manifest={manifest} />
        </Section>
        <Section title={t('formula.options')}>
          <Options options={optionsOf(schema)} />
        </Section>
        {manifest.masked.length === 0 ? null : (
          <Section title={t('formula.masked')}>
            <Names names={manifest.masked} />
          </Section>
        )}
      </CardBody>
    </Card>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid gap-1.5">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-1.5">
      {names.map((name) => (
        <li key={name}>
          <Chip translate="no" className="mono-11">
            {name}
          </Chip>
        </li>
      ))}
    </ul>
  );
}

function Relations({ manifest }: { manifest: FormulaManifest }) {
  const { t } = useTranslation('packages');
  const rows = relationSides.flatMap((side) =>
    Object.entries(manifest[side]).map(([name, relation]) => ({ side, name, ...relation })),
  );
  if (rows.length === 0) return <p className="text-ink-2">{t('formula.relations.none')}</p>;
  return (
    <TableFrame label={t('formula.relations')}>
      <Table>
        <THead>
          <tr>
            <Th>{t('formula.relation')}</Th>
            <Th>{t('formula.side')}</Th>
            <Th>{t('formula.interface')}</Th>
            <Th className="w-full">{t('formula.limit')}</Th>
          </tr>
        </THead>
        <TBody>
          {rows.map(({ side, name, interface: face, limit, optional }) => (
            <Tr key={name}>
              <Td translate="no" className="mono">
                {name}
              </Td>
              <Td>
                {t(`formula.side.${side}`)}
                {optional ? <span className="text-ink-3"> {t('formula.optional')}</span> : null}
              </Td>
              <Td translate="no" className="mono">
                {face}
              </Td>
              <Td>
                {limit === null ? <span className="text-ink-3">{t('formula.unlimited')}</span> : <Num value={limit} />}
              </Td>
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}

function Hooks({ manifest: { hooks, timeouts } }: Pick<FormulaCardProps, 'manifest'>) {
  const { t } = useTranslation('packages');
  const standard = timeouts.default ?? hookSeconds.default;
  const own = hooks.filter((hook) => timeouts[hook] !== undefined);
  if (hooks.length === 0) return <p className="text-ink-2">{t('formula.hooks.none')}</p>;
  return (
    <>
      <Names names={hooks} />
      <p className="text-12 text-ink-2">
        {t('formula.hooks.limit', { count: standard })}
        {own.map((hook) => (
          <span key={hook}> {t('formula.hooks.ownLimit', { hook, count: timeouts[hook] ?? standard })}</span>
        ))}
      </p>
    </>
  );
}

function Options({ options }: { options: readonly FormulaOption[] }) {
  const { t } = useTranslation('packages');
  if (options.length === 0) return <p className="text-ink-2">{t('formula.options.none')}</p>;
  return (
    <TableFrame label={t('formula.options')}>
      <Table>
        <THead>
          <tr>
            <Th>{t('formula.option')}</Th>
            <Th>{t('formula.type')}</Th>
            <Th>{t('formula.default')}</Th>
            <Th className="w-full max-sm:hidden">{t('formula.description')}</Th>
          </tr>
        </THead>
        <TBody>
          {options.map(({ name, type, initial, description }) => (
            <Tr key={name}>
              <Td translate="no" className="mono">
                {name}
              </Td>
              <Td translate="no" className="mono">
                {type}
              </Td>
              <Td translate="no" className="mono max-w-64 truncate" title={initial ?? undefined}>
                {initial}
              </Td>
              <Td lang="" translate="no" className="max-w-96 wrap-anywhere whitespace-normal max-sm:hidden">
                {description}
              </Td>
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
