/** Of one server: beyond that, more machines help more. The process that watches over them imports this and not the schema. */
export const mostWorkers = 64;
