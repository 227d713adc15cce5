'use client';

import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody } from '#app/_ui/card.tsx';
import { Field } from '#app/_ui/field.tsx';
import { Form } from '#app/_ui/form.tsx';
import { Input } from '#app/_ui/input.tsx';
import { Select } from '#app/_ui/select.tsx';
import { scriptTypes } from './script-types.ts';

/** A name that Python code can call. */
const nameForm = /^[A-Za-z_]\w*$/;
const reserved = ['args', 'api'];

export interface AddScriptProps {
  /** The names of the plan's scripts. */
  taken: readonly string[];
  onAdd(name: string, type: string): void;
}

/** Adds a script to the plan. */
export function AddScript({ taken, onAdd }: AddScriptProps) {
  const { t } = useTranslation('runbooks');
  const [name, setName] = useState('');
  const [type, setType] = useState<string>('Bash');
  const [wasTried, setTried] = useState(false);
  const isFit = nameForm.test(name) && !reserved.includes(name) && !taken.includes(name);
  const submit = () => {
    setTried(true);
    if (!isFit) return;
    onAdd(name, type);
    setName('');
    setTried(false);
  };
  return (
    <Card>
      <CardBody className="pt-4">
        <Form onSubmit={submit} className="flex flex-wrap items-start gap-2">
          <Field
            label={t('script.name')}
            hint={t('script.name.hint')}
            error={wasTried && !isFit ? t('script.name.wrong') : undefined}
            className="flex-[1_1_12rem]"
          >
            <Input
              mono
              maxLength={64}
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Field label={t('script.type')} className="w-40">
            <Select
              value={type}
              onChange={(event) => setType(event.target.value)}
              options={scriptTypes.map((each) => ({ value: each, label: each, isName: true }))}
            />
          </Field>
          <Button type="submit" className="mt-[23px]">
            <Plus aria-hidden />
            {t('script.add')}
          </Button>
        </Form>
      </CardBody>
    </Card>
  );
}
