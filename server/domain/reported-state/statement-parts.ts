/** The parts of the statement that stores a batch of reports. `from` is the name of a CTE with evaluated rows. */
interface UpdateParts {
  set: string;
  from: string;
  where: string;
}

/** SQL for the update of extension pulses `u`. */
export const updatePulseSql = ({ set, from, where }: UpdateParts): string =>
  `update extension_pulse u set
    ${set}
    from ${from}
   where ${where}`;

/** SQL for the update of the extensions' newest documents `l`. */
export const updateLatestSql = ({ set, from, where }: UpdateParts): string =>
  `update extension_latest l set
    ${set}
    from ${from}
   where ${where}`;
