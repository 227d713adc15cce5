/** The parts of a statement that stores a batch of reports. `from` names evaluated rows of it. */
interface UpdateParts {
  set: string;
  from: string;
  where: string;
}

/** The update of extensions' pulses `u`. */
export const updatePulseSql = ({ set, from, where }: UpdateParts): string =>
  `update extension_pulse u set
    ${set}
    from ${from}
   where ${where}`;

/** The update of extensions' newest documents `l`. */
export const updateLatestSql = ({ set, from, where }: UpdateParts): string =>
  `update extension_latest l set
    ${set}
    from ${from}
   where ${where}`;
