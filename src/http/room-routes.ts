import type { EndpointRoute } from "./server/endpoint.ts";
import { roomFiles } from "./routes/threads/files.ts";
import {
  addMember,
  changeRoom,
  clearRoom,
  continueRoom,
  createRoom,
  deleteRoom,
  getRoom,
  interruptRoom,
  joinRoom,
  listRooms,
  removeMember,
  sayInRoom,
} from "./routes/rooms/rooms.ts";
import { decideInRoom, exportRoom, followRoom, listRoomMessages, listRoomQuestions } from "./routes/rooms/room-log.ts";

/** Rooms: who is in them, what is said in them, and what people may do about what agents do. */
export const roomRoutes: readonly EndpointRoute[] = [
  ["GET", "/api/rooms", listRooms],
  ["POST", "/api/rooms", createRoom],
  ["GET", "/api/rooms/:id", getRoom],
  ["PATCH", "/api/rooms/:id", changeRoom],
  ["DELETE", "/api/rooms/:id", deleteRoom],
  ["POST", "/api/rooms/:id/join", joinRoom],
  ["POST", "/api/rooms/:id/members", addMember],
  ["DELETE", "/api/rooms/:id/members/:handle", removeMember],
  ["POST", "/api/rooms/:id/messages", sayInRoom],
  ["GET", "/api/rooms/:id/messages", listRoomMessages],
  ["GET", "/api/rooms/:id/events", followRoom],
  ["POST", "/api/rooms/:id/interrupt", interruptRoom],
  ["POST", "/api/rooms/:id/continue", continueRoom],
  ["POST", "/api/rooms/:id/clear", clearRoom],
  ["GET", "/api/rooms/:id/questions", listRoomQuestions],
  ["POST", "/api/rooms/:id/decisions/:item", decideInRoom],
  ["GET", "/api/rooms/:id/export", exportRoom],
  ["GET", "/api/rooms/:id/files", roomFiles.list],
  ["POST", "/api/rooms/:id/files", roomFiles.uploadForm],
  ["GET", "/api/rooms/:id/files/*", roomFiles.download],
  ["PUT", "/api/rooms/:id/files/*", roomFiles.upload],
  ["DELETE", "/api/rooms/:id/files/*", roomFiles.remove],
];
